// torch_xpu::quantize_rows: numbers of eight bits with a scale for each row. torch_xpu::dynamic_linear:
// activations that are quantized so as they come, by such weights; the runtime quantizes few rows as it
// orders them for the product. Their schemas are in bridge/operators.txt.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <tuple>
#include <utility>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/gemm.h"
#include "ops/row_kernel.h"
#include "ops/scaled_rows.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::blas::ScalingType;

// As torchao quantizes: the scale is computed in the type of the activations. A row of zeros has zeros.
struct Quantizer {
  const char* name;
  const char* largest;  // number of the type; of integers, the middle of both ends
  const char* smallest_scale;
  const char* quantized;
};
constexpr Quantizer to_int8{"quantize_rows_int8", "127.5f", "0x1p-23f",
                            "clamp(round_even(a0 * inverse), -128.0f, 127.0f)"},
    to_e4m3{"quantize_rows_e4m3", "448.0f", "0.0f", "clamp(a0 / divisor, -448.0f, 448.0f)"};

std::string in_type(at::ScalarType type, const std::string& expression) {
  if (type == at::kBFloat16) return "to<float>(bf16(" + expression + "))";
  return type == at::kHalf ? "(float)(half)(" + expression + ")" : expression;
}

const RowKernel* make_quantizer(const Quantizer& q, at::ScalarType type) {
  auto finish = "T scale = maximum(" + in_type(type, std::string("s0 / ") + q.largest) + ", " +
                q.smallest_scale +
                "); [[maybe_unused]] T inverse = 1.0f / scale, divisor = scale == 0.0f ? 1.0f : scale;";
  return new RowKernel(
      {.name = q.name,
       .passes = {{{{"T", "0"}}, "s0 = maximum(s0, abs(a0));", "s0 = maximum(s0, r0);", finish}},
       .outputs = {q.quantized},
       .row_outputs = {"scale"}});
}

const RowKernel& quantizer(at::ScalarType of, at::ScalarType to) {
  static const auto make_all = [](const Quantizer& q) {
    return std::array{make_quantizer(q, at::kFloat), make_quantizer(q, at::kHalf),
                      make_quantizer(q, at::kBFloat16)};
  };
  static const auto int8 = make_all(to_int8), e4m3 = make_all(to_e4m3);
  auto& of_type = to == at::kChar ? int8 : e4m3;
  return *of_type[of == at::kFloat ? 0 : of == at::kHalf ? 1 : 2];
}

void check_types(const Tensor& input, at::ScalarType numbers) {
  auto type = input.scalar_type();
  TORCH_CHECK_TYPE(type == at::kFloat || type == at::kHalf || type == at::kBFloat16, "input: got ", type,
                   ", expected float32, float16 or bfloat16");
  TORCH_CHECK_TYPE(numbers == at::kChar || numbers == at::kFloat8_e4m3fn, "got numbers of ", numbers,
                   ", expected int8 or float8_e4m3fn");
}

// One kernel: it finds the scale of a row and quantizes it.
std::tuple<Tensor, Tensor> quantize_rows(const Tensor& input, at::ScalarType dtype) {
  auto guard = guard_for(input);
  check_types(input, dtype);
  TORCH_CHECK_VALUE(input.dim() > 0, "quantize_rows: got no dimension, expected rows");
  auto sizes = input.sizes().vec();
  auto numbers = at::empty(sizes, input.options().dtype(dtype));
  sizes.back() = 1;
  auto scales = at::empty(sizes, input.options().dtype(at::kFloat));
  if (input.numel() == 0) return {numbers, scales.zero_()};
  auto k = input.size(-1), count = input.numel() / k;
  quantizer(input.scalar_type(), dtype)({numbers.view({count, k, 1})}, {scales.view({count, 1})},
                                        {input.contiguous().view({count, k, 1})});
  return {numbers, scales};
}

// Rows of a contiguous tensor as a matrix; no view of PyTorch's, which would cost as much as a launch.
xpu::Tensor rows_of(const Tensor& t) {
  auto length = t.size(-1);
  std::int64_t shape[] = {t.numel() / length, length}, strides[] = {length, 1};
  auto view = view_of(t);
  return {view.data, view.dtype, 2, shape, strides};
}

// Returns false where no plan quantizes the rows on the way to the product.
bool multiply_quantizing(const Tensor& input, const Tensor& weight, const Tensor& scale,
                         const std::optional<Tensor>& bias, const Tensor& output) {
  constexpr std::int64_t max_rows = 16;
  if (!input.is_contiguous() || output.numel() > max_rows * output.size(-1)) return false;
  auto transposed = [](const Tensor& t) {
    auto view = view_of(t);
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
    return view;
  };
  auto options = matmul_options();
  options.b.scale = transposed(scale);
  if (given(bias)) options.bias = view_of(*bias);
  return translate_errors([&] {
    return xpu::dnn::matmul_of_quantized_rows(stream_of(input), rows_of(input), transposed(weight),
                                              rows_of(output), options);
  });
}

Tensor dynamic_linear(const Tensor& input, const Tensor& weight, const Tensor& scale,
                      const std::optional<Tensor>& bias) {
  auto guard = guard_for(input, weight);
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  check_one_device(input, weight, scale, bias);
  check_types(input, weight.scalar_type());
  auto type = input.scalar_type();
  TORCH_CHECK_VALUE(weight.dim() == 2 && input.dim() > 0 && input.size(-1) == weight.size(1),
                    "input of shape ", input.sizes(), " and a weight of shape ", weight.sizes(),
                    " cannot be multiplied");
  auto n = weight.size(0), k = weight.size(1);
  TORCH_CHECK_VALUE(
      scale.scalar_type() == at::kFloat && scale.numel() == n && scale.dim() == 2 && scale.size(0) == n,
      "scale: got ", scale.scalar_type(), " of shape ", scale.sizes(), ", expected float32 of shape (", n,
      ", 1)");
  TORCH_CHECK_VALUE(!given(bias) || (bias->dim() == 1 && bias->size(0) == n && bias->scalar_type() == type),
                    "bias: expected ", type, " of shape (", n, ")");
  auto sizes = input.sizes().vec();
  sizes.back() = n;
  auto output = at::empty(sizes, input.options());
  if (output.numel() == 0) return output;
  if (k == 0) return given(bias) ? output.copy_(bias->expand_as(output)) : output.zero_();
  if (multiply_quantizing(input, weight, scale, bias, output)) return output;
  auto [numbers, scales] = quantize_rows(input.reshape({-1, k}), weight.scalar_type());
  auto dense = weight.stride(1) == 1 ? weight : weight.contiguous();
  multiply_scaled({numbers, scales, ScalingType::RowWise}, {dense, scale, ScalingType::RowWise}, bias,
                  output.view({-1, n}));
  return output;
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("quantize_rows", quantize_rows);
  m.impl("dynamic_linear", dynamic_linear);
}

}  // namespace torch_xpu
