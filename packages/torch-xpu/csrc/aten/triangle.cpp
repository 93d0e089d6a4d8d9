// Triangles of matrices, and the identity.
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tril_meta.h>
#include <ATen/ops/triu_meta.h>

#include "device/errors.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/kernels/select.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;

// Rows and columns come as tensors that broadcast: computed from an element's place they would cost two
// divisions.
const Elementwise& triangle(bool upper) {
  static const auto make = [](const char* name, const char* keeps) {
    return new Elementwise({.name = name, .outputs = {keeps}, .inputs = 3, .unconverted_inputs = 6});
  };
  static const auto& lower_part = *make("tril", "a2 <= a1 ? a0 : T(0)");
  static const auto& upper_part = *make("triu", "a2 >= a1 ? a0 : T(0)");
  return upper ? upper_part : lower_part;
}

void copy_triangle(bool upper, const Tensor& out, const Tensor& self, std::int64_t diagonal) {
  if (out.numel() == 0) return;
  auto rows = self.size(-2), columns = self.size(-1);
  diagonal = std::clamp(diagonal, -rows, columns);
  auto numbers = self.options().dtype(at::kInt);
  auto row = at::arange(diagonal, diagonal + rows, numbers).unsqueeze(1),
       column = at::arange(columns, numbers);
  auto to = view_of(out);
  const xpu::Tensor inputs[] = {view_of(self), view_of(row), view_of(column)};
  auto type = self.scalar_type() == at::kBool ? xpu::DType::u8 : to.dtype;
  translate_errors([&] { triangle(upper)(stream_of(self), std::span(&to, 1), inputs, {}, type); });
}

void tril(auto& op, const Tensor& self, std::int64_t diagonal) {
  copy_triangle(false, op.output(), self, diagonal);
}
void triu(auto& op, const Tensor& self, std::int64_t diagonal) {
  copy_triangle(true, op.output(), self, diagonal);
}

// Where a triangle of ones is not zero.
Tensor triangle_indices(bool upper, std::int64_t row, std::int64_t column, std::int64_t offset,
                        std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                        std::optional<at::Device> device, std::optional<bool> pin_memory) {
  at::native::check_args(row, column, layout);
  auto lower = at::native::get_tril_size(row, column, upper ? offset - 1 : offset);
  auto count = upper ? row * column - lower : lower;
  auto type = dtype.value_or(at::kLong);
  auto options = at::TensorOptions().device(device.value_or(at::kXPU)).pinned_memory(pin_memory);
  bool narrow = type == at::kInt;
  auto out = at::empty({2, count}, options.dtype(narrow ? at::kInt : at::kLong));
  if (count == 0) return out.to(type);
  c10::DeviceGuard guard(out.device());
  auto ones = at::ones({row, column}, options.dtype(at::kBool));
  copy_triangle(upper, ones, ones, offset);
  translate_errors(
      [&] { xpu::kernels::Selection(stream_of(ones), view_of(ones)).positions(view_of(out.t())); });
  return out.to(type);
}

Tensor tril_indices(std::int64_t row, std::int64_t column, std::int64_t offset,
                    std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                    std::optional<at::Device> device, std::optional<bool> pin_memory) {
  return triangle_indices(false, row, column, offset, dtype, layout, device, pin_memory);
}
Tensor triu_indices(std::int64_t row, std::int64_t column, std::int64_t offset,
                    std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                    std::optional<at::Device> device, std::optional<bool> pin_memory) {
  return triangle_indices(true, row, column, offset, dtype, layout, device, pin_memory);
}

Tensor& eye_m_out(c10::SymInt n, c10::SymInt m, Tensor& out) {
  auto guard = guard_for(out);
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  out.resize_({n.expect_int(), m.expect_int()});
  out.zero_();
  if (out.numel()) out.diagonal().fill_(1);
  return out;
}
Tensor& eye_out(c10::SymInt n, Tensor& out) {
  return eye_m_out(n, n, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_tril, KERNEL(tril)>(m, "tril", "tril.out", "tril_");
  structured<at::meta::structured_triu, KERNEL(triu)>(m, "triu", "triu.out", "triu_");
  m.impl("tril_indices", tril_indices);
  m.impl("triu_indices", triu_indices);
  m.impl("eye.m_out", eye_m_out);
  m.impl("eye.out", eye_out);
}

}  // namespace torch_xpu
