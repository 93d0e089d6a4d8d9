// torch_xpu::low_bit_linear and dequantize_low_bit: weights of eight and four bits under activations that are
// floats. Their schemas are in bridge/operators.txt.
//
// A weight [n, k] is rows of bytes, of one number or two (the first in the low half). Its numbers mean
// scale * (number - zero_point) + offset; the three have the shape [n, groups], [n, 1], [1, 1] or [].
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "bridge/low_bit_format.h"
#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/gemm.h"
#include "ops/tensor.h"
#include "xpu/dnn/reorder.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// Columns `begin` to `end` of a matrix whose columns are `step` bytes apart.
xpu::Tensor columns(xpu::Tensor t, std::int64_t begin, std::int64_t end, std::int64_t step) {
  t.data = static_cast<char*>(t.data) + begin * step;
  t.shape[t.ndim - 1] = end - begin;
  return t;
}
xpu::Tensor columns(const xpu::Tensor& t, std::int64_t begin, std::int64_t end) {
  return columns(t, begin, end, t.strides[t.ndim - 1] * static_cast<std::int64_t>(xpu::size_of(t.dtype)));
}

// A contiguous tensor as a matrix of rows.
xpu::Tensor rows_of(const Tensor& t, std::int64_t rows, std::int64_t length) {
  std::int64_t shape[] = {rows, length}, strides[] = {length, 1};
  auto view = view_of(t);
  return {view.data, view.dtype, 2, shape, strides};
}

// A weight and what its numbers mean, as the runtime sees them: [k, n]. Views of the operator's arguments,
// made without PyTorch's views, which cost a call of few rows more time than the rest of it.
struct Weight {
  Tensor bytes;
  std::int64_t n, k;
  xpu::Tensor numbers;
  xpu::dnn::Quantization quantization;

  Weight(const Tensor& weight, std::string_view format_name, const OptionalTensor& scale,
         const OptionalTensor& zero_point, const OptionalTensor& offset) {
    auto& format = low_bit_format(format_name);
    TORCH_CHECK_VALUE(weight.dim() == 2, "weight: got ", weight.dim(), " dimensions, expected 2");
    TORCH_CHECK_TYPE(weight.element_size() == 1 || weight.scalar_type() == at::kInt, "weight: got ",
                     weight.scalar_type(), ", expected bytes, or words of packed numbers");
    bytes = weight.stride(1) == 1 || weight.size(1) < 2 ? weight : weight.contiguous();
    auto numbers_each = weight.element_size() * format.numbers_in_byte;
    n = weight.size(0);
    k = weight.size(1) * numbers_each;
    std::int64_t shape[] = {k, n}, strides[] = {1, bytes.stride(0) * numbers_each};
    numbers = {view_of(bytes).data, format.dtype, 2, shape, strides};
    quantization.scale = part("scale", scale);
    quantization.zero_point = part("zero_point", zero_point);
    quantization.offset = part("offset", offset);
  }

  Weight rows(std::int64_t begin, std::int64_t end) const {
    Weight w = *this;
    w.n = end - begin;
    w.numbers = columns(numbers, begin, end, bytes.stride(0) * bytes.element_size());
    for (auto* extra : {&w.quantization.scale, &w.quantization.zero_point, &w.quantization.offset}) {
      if (*extra && (*extra)->ndim == 2 && (*extra)->shape[1] != 1) *extra = columns(**extra, begin, end);
    }
    return w;
  }

 private:
  std::optional<xpu::Tensor> part(const char* name, const OptionalTensor& given_tensor) const {
    if (!given(given_tensor)) return {};
    auto& t = *given_tensor;
    // Devices without f64 have no kernel that reads it.
    TORCH_CHECK_TYPE(!t.is_complex() && t.scalar_type() != at::kDouble, name, ": got ", t.scalar_type(),
                     ", expected integers or floats of up to 32 bits");
    auto view = view_of_scale(t);
    if (t.numel() == 1) {
      view.ndim = 0;
      return view;
    }
    bool fits = t.dim() == 2 && (t.size(0) == n || t.size(0) == 1) && t.size(1) > 0 && k % t.size(1) == 0;
    TORCH_CHECK_VALUE(fits, name, ": got shape ", t.sizes(), ", expected (", n,
                      ", groups) where groups divides ", k);
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
    return view;
  }
  static xpu::Tensor view_of_scale(const Tensor& t) {
    if (t.scalar_type() != at::kFloat8_e8m0fnu) return view_of(t);
    auto view = view_of(t.view(at::kByte));
    view.dtype = xpu::DType::f8e8m0;
    return view;
  }
};

void check_floats(const char* name, at::ScalarType type) {
  TORCH_CHECK_TYPE(type == at::kFloat || type == at::kHalf || type == at::kBFloat16, name, ": got ", type,
                   ", expected float32, float16 or bfloat16");
}

// Products of many rows widen the weights, in pieces of at most so many numbers.
constexpr std::int64_t max_widened = std::int64_t{1} << 26, max_skinny_rows = 16;

Tensor low_bit_linear(const Tensor& input, const Tensor& weight, std::string_view format,
                      const OptionalTensor& scale, const OptionalTensor& zero_point,
                      const OptionalTensor& offset, const OptionalTensor& bias,
                      const OptionalTensor& factor) {
  auto guard = guard_for(input, weight);
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  check_one_device(input, weight, scale, zero_point, offset, bias, factor);
  check_floats("input", input.scalar_type());
  Weight w(weight, format, scale, zero_point, offset);
  TORCH_CHECK_VALUE(input.dim() > 0 && input.size(-1) == w.k, "input of shape ", input.sizes(),
                    " and a weight of shape [", w.n, ", ", w.k, "] cannot be multiplied");
  TORCH_CHECK_VALUE(!given(bias) || (bias->dim() == 1 && bias->size(0) == w.n), "bias: got shape ",
                    bias ? bias->sizes() : at::IntArrayRef(), ", expected (", w.n, ")");
  TORCH_CHECK_VALUE(!given(factor) || (factor->numel() == 1 && factor->scalar_type() == at::kFloat),
                    "factor: expected one number of float32");
  auto sizes = input.sizes().vec();
  sizes.back() = w.n;
  auto output = at::empty(sizes, input.options());
  if (output.numel() == 0) return output;
  auto of_all = given(factor) ? factor->reshape({1, 1}) : Tensor();
  if (w.k == 0) return given(bias) ? output.copy_(bias->expand_as(output)) : output.zero_();
  auto m = output.numel() / w.n;
  auto any_rows = input.is_contiguous() ? input : input.reshape({m, w.k});
  auto rows = any_rows.is_contiguous() ? rows_of(any_rows, m, w.k) : view_of(any_rows);
  auto results = rows_of(output, m, w.n);
  auto piece = m <= max_skinny_rows ? w.n : std::max<std::int64_t>(max_widened / w.k, 1);
  for (std::int64_t begin = 0; begin < w.n; begin += piece) {
    auto end = std::min(begin + piece, w.n);
    auto of_piece = w.rows(begin, end);
    auto options = matmul_options();
    options.b = of_piece.quantization;
    if (given(bias)) options.bias = columns(view_of(*bias), begin, end);
    if (of_all.defined()) multiply_before_bias(options, of_all);
    translate_errors([&] {
      xpu::dnn::matmul(stream_of(input), rows, of_piece.numbers, columns(results, begin, end), options);
    });
  }
  return output;
}

Tensor dequantize_low_bit(const Tensor& weight, std::string_view format, const OptionalTensor& scale,
                          const OptionalTensor& zero_point, const OptionalTensor& offset,
                          at::ScalarType dtype) {
  auto guard = guard_for(weight);
  check_one_device(weight, scale, zero_point, offset);
  check_floats("dtype", dtype);
  Weight w(weight, format, scale, zero_point, offset);
  auto output = at::empty({w.n, w.k}, weight.options().dtype(dtype));
  if (output.numel() == 0) return output;
  translate_errors(
      [&] { xpu::dnn::reorder(stream_of(weight), w.numbers, view_of(output.t()), w.quantization); });
  return output;
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("low_bit_linear", low_bit_linear);
  m.impl("dequantize_low_bit", dequantize_low_bit);
}

}  // namespace torch_xpu
