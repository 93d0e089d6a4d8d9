// PyTorch's quantized linear layers, `onednn::qlinear_pointwise`: a product of integers of eight bits by a
// frozen weight, its bias, a sum with another tensor, an activation, and the quantization of the result in
// one call.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "aten/quantized/operands.h"
#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/frozen_weight.h"
#include "ops/dnn/gemm.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using StepScalars = c10::List<std::optional<at::Scalar>>;

constexpr const char* linear_name = "qlinear_pointwise";

// weight: [input features, output features]
Tensor quantized_linear(const Tensor& input, const TensorQuantization& quantization, const Tensor& weight,
                        const Tensor& scales, const Tensor& zero_points, const OptionalTensor& bias,
                        const ResultType& result_type, const std::optional<BinaryStep>& binary,
                        const Activation& activation) {
  TORCH_CHECK(input.dim() > 0 && weight.dim() == 2 && input.size(-1) == weight.size(0), linear_name,
              ": shapes ", input.sizes(), " and ", weight.sizes(), " cannot be multiplied");
  auto k = weight.size(0), n = weight.size(1);
  check_quantized_operands(linear_name, input, weight, scales, zero_points, bias, n);
  auto sizes = input.sizes().vec();
  sizes.back() = n;
  bool sums = binary && binary->name == "sum";
  TORCH_CHECK(!binary || binary->operand.sizes() == at::IntArrayRef(sizes), linear_name,
              ": expected a summand of shape ", at::IntArrayRef(sizes), ", got ",
              binary ? binary->operand.sizes() : at::IntArrayRef());
  auto output = sums ? binary->operand : at::empty(sizes, input.options().dtype(result_type.type));
  if (output.numel() == 0) return output;
  auto rows = input.reshape({-1, k});
  auto target = output.is_contiguous() ? output.view({-1, n}) : output.reshape({-1, n});
  auto options = matmul_options();
  options.packed_b = packed_weights(weight);
  options.a = quantization.view();
  auto of_weight = weight_scales(scales, 2, 1);
  options.b.scale = view_of(of_weight);
  options.c = result_type.quantization.view();
  if (given(bias)) options.bias = view_of(bias->reshape({n}));
  Tensor operand;
  if (sums) {
    options.post_ops.push_back({xpu::dnn::PostOp::Kind::sum,
                                static_cast<float>(binary->scale),
                                static_cast<float>(binary->zero_point),
                                {}});
  } else if (binary) {
    operand = binary->operand.reshape({-1, n});
    add_binary(options.post_ops, "add", {}, operand, target.sizes());
  }
  activation.append_to(options.post_ops, result_type);
  options.small_a = activation.has_small_input();
  translate_errors(
      [&] { xpu::dnn::matmul(stream_of(input), view_of(rows), view_of(weight), view_of(target), options); });
  if (!output.is_contiguous()) output.copy_(target.view(sizes));
  return output;
}

// The input's scale and zero point are numbers or tensors. The types of parameters are those of PyTorch's
// kernels.

template <class Scale, class ZeroPoint>
Tensor qlinear(Tensor input, Scale scale, ZeroPoint zero_point, Tensor weight, Tensor weight_scales,
               Tensor weight_zero_points, OptionalTensor bias, double output_scale,
               std::int64_t output_zero_point, std::optional<at::ScalarType> output_type,
               std::string_view name, StepScalars scalars, std::string_view algorithm) {
  auto guard = guard_for(input, weight);
  check_one_device(input, weight, weight_scales, weight_zero_points, bias);
  return quantized_linear(input, TensorQuantization::of(scale, zero_point, input), weight, weight_scales,
                          weight_zero_points, bias,
                          ResultType::of(linear_name, output_type, output_scale, output_zero_point, input),
                          {}, {name, scalars, algorithm});
}

template <class Scale, class ZeroPoint>
Tensor qlinear_binary(Tensor input, Scale scale, ZeroPoint zero_point, Tensor weight, Tensor weight_scales,
                      Tensor weight_zero_points, OptionalTensor other, OptionalTensor bias,
                      double output_scale, std::int64_t output_zero_point,
                      std::optional<at::ScalarType> output_type, double other_scale,
                      std::int64_t other_zero_point, std::string_view binary, double alpha,
                      std::string_view name, StepScalars scalars, std::string_view algorithm) {
  auto guard = guard_for(input, weight);
  check_one_device(input, weight, weight_scales, weight_zero_points, other, bias);
  auto result_type = ResultType::of(linear_name, output_type, output_scale, output_zero_point, input);
  std::optional<BinaryStep> step;
  if (binary != "none") {
    step.emplace(BinaryStep{binary, other.value_or(Tensor()), other_scale, other_zero_point});
    step->check(linear_name, alpha, result_type);
  }
  return quantized_linear(input, TensorQuantization::of(scale, zero_point, input), weight, weight_scales,
                          weight_zero_points, bias, result_type, step, {name, scalars, algorithm});
}

// [output features, input features] becomes a frozen [input features, output features].
Tensor prepack_linear(Tensor weight, std::optional<c10::List<std::int64_t>>) {
  auto guard = guard_for(weight);
  TORCH_CHECK(weight.dim() == 2 && weight.scalar_type() == at::kChar,
              "qlinear_prepack: expected a matrix of int8, got ", weight.scalar_type(), " of shape ",
              weight.sizes());
  return freeze_weight(weight).t();
}

}  // namespace

TORCH_LIBRARY_IMPL(onednn, XPU, m) {
  m.impl("qlinear_prepack", prepack_linear);
  m.impl("qlinear_pointwise", qlinear<double, std::int64_t>);
  m.impl("qlinear_pointwise.tensor", qlinear<Tensor, Tensor>);
  m.impl("qlinear_pointwise.binary", qlinear_binary<double, std::int64_t>);
  m.impl("qlinear_pointwise.binary_tensor", qlinear_binary<Tensor, Tensor>);
}

}  // namespace torch_xpu
