#include "ops/elementwise/pointwise.h"

#include <ATen/ops/empty.h>

#include <array>
#include <vector>

#include "device/errors.h"
#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/scalar_fits.h"
#include "ops/tensor.h"

namespace torch_xpu {

xpu::Tensor operand_of(const at::TensorIteratorBase& iter, int k) {
  auto& tensor = iter.tensor_base(k);
  xpu::Tensor view;
  view.data = iter.data_ptr(k);
  view.dtype = dtype_of(tensor.scalar_type());
  view.ndim = iter.ndim();
  auto bytes = static_cast<std::int64_t>(tensor.element_size());
  // The iterator has the fastest dimension first.
  for (int d = 0; d < view.ndim; ++d) {
    view.shape[view.ndim - 1 - d] = iter.shape()[d];
    view.strides[view.ndim - 1 - d] = iter.strides(k)[d] / bytes;
  }
  return view;
}

auto Pointwise::kernel(Kind kind, int inputs, int scalars, unsigned on_host) const -> const Kernel& {
  auto& slot = kernels_[kind][on_host];
  if (auto* made = slot.load(std::memory_order_acquire)) return *made;
  xpu::kernels::Expression e;
  e.name = name_;
  e.outputs = kind == integer_ && !expression_.integer.empty()   ? expression_.integer
              : kind == complex_ && !expression_.complex.empty() ? expression_.complex
                                                                 : expression_.real;
  TORCH_CHECK_NOT_IMPLEMENTED(!e.outputs.empty(), '"', name_, "\" not implemented for ",
                              kind == complex_ ? "complex numbers" : "floats");
  e.headers = expression_.headers;
  e.headers.emplace_back(kind == complex_ ? "complex_math" : "math");
  if (kind == integer_) e.headers.emplace_back("integer");
  e.helpers = expression_.helpers;
  e.inputs = 0;
  e.scalars = scalars;
  for (int k = 0; k < inputs; ++k) {
    auto letter = std::string(1, static_cast<char>('a' + k));
    if (on_host >> k & 1) {
      e.body += "T " + letter + " = p" + std::to_string(e.scalars++) + "; ";
      continue;
    }
    if (expression_.unconverted_inputs >> k & 1) e.unconverted_inputs |= 1u << e.inputs;
    e.body += "auto " + letter + " = a" + std::to_string(e.inputs++) + "; ";
  }
  for (int k = 0; k < scalars; ++k)
    e.body += std::string("T ") + static_cast<char>('p' + k) + " = p" + std::to_string(k) + "; ";
  e.body += expression_.body;
  auto* made = new Kernel(std::move(e));
  const Kernel* none = nullptr;
  if (slot.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *none;
}

void Pointwise::run_in_f32(at::TensorIteratorBase& iter, at::ArrayRef<at::Scalar> scalars) const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(static_cast<std::size_t>(iter.ntensors()));  // the iterator borrows them
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).allow_cpu_scalars(true).resize_outputs(false).set_check_mem_overlap(
      false);
  for (int k = 0; k < iter.ntensors(); ++k) {
    auto& t = iter.tensor(k);
    bool output = k < iter.noutputs();
    if (!is_minifloat(t))
      tensors.push_back(t);
    else if (output)
      tensors.push_back(at::empty(t.sizes(), t.options().dtype(at::kFloat)));
    else
      tensors.push_back(t.to(at::kFloat));
    output ? config.add_output(tensors.back()) : config.add_const_input(tensors.back());
  }
  auto wide = config.build();
  (*this)(wide, scalars, at::kFloat);
  for (int k = 0; k < iter.noutputs(); ++k)
    if (is_minifloat(iter.tensor(k))) iter.tensor(k).copy_(tensors[static_cast<std::size_t>(k)]);
}

void Pointwise::operator()(at::TensorIteratorBase& iter, at::ArrayRef<at::Scalar> scalars,
                           std::optional<at::ScalarType> compute) const {
  if (iter.numel() == 0) return;
  for (int k = 0; k < iter.ntensors(); ++k)
    if (is_minifloat(iter.tensor_base(k).scalar_type())) return run_in_f32(iter, scalars);
  int outputs = iter.noutputs(), inputs = iter.ninputs();
  TORCH_INTERNAL_ASSERT(inputs <= max_inputs);
  auto type = compute ? *compute
              : iter.common_dtype() != at::ScalarType::Undefined
                  ? iter.common_dtype()
                  : iter.tensor_base(inputs ? outputs : 0).scalar_type();
  auto kind = at::isComplexType(type) ? complex_ : at::isIntegralType(type, true) ? integer_ : real_;

  std::array<xpu::Tensor, xpu::kernels::Elementwise::max_operands> views;
  c10::SmallVector<xpu::Scalar, 8> numbers;
  for (auto& s : scalars) {
    if (kind == integer_) check_fits(s, type);
    numbers.push_back(scalar_of(s));
  }
  unsigned on_host = 0;
  int count = 0;
  for (int k = 0; k < outputs; ++k) views[count++] = operand_of(iter, k);
  for (int k = 0; k < inputs; ++k) {
    if (iter.is_cpu_scalar(outputs + k)) {
      on_host |= 1u << k;
      numbers.push_back(scalar_of(iter.tensor(outputs + k).item()));
    } else {
      views[count++] = operand_of(iter, outputs + k);
    }
  }
  std::span<const xpu::Tensor> all(views.data(), static_cast<std::size_t>(count));
  auto dtype = type == at::kBool ? xpu::DType::u8 : dtype_of(type);
  translate_errors([&] {
    kernel(kind, inputs, static_cast<int>(scalars.size()), on_host)(
        xpu::current_stream(iter.device(0).index()), all.first(outputs), all.subspan(outputs),
        {numbers.data(), numbers.size()}, dtype);
  });
}

}  // namespace torch_xpu
