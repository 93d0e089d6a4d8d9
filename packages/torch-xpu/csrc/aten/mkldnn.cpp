// PyTorch's operators of oneDNN: products and convolutions with a bias, a binary step and an activation.
// Weights are plain tensors here: "reordered" ones keep their layout.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/dnn/convolution.h"
#include "ops/dnn/gemm.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using StepScalars = c10::List<std::optional<at::Scalar>>;
using StepName = std::optional<std::string_view>;

// The layout that Inductor expects of these operators.
at::MemoryFormat format_of_result(const Tensor& input) {
  if (input.is_contiguous() || input.stride(0) == 0) return at::MemoryFormat::Contiguous;
  if (input.dim() == 4) return at::MemoryFormat::ChannelsLast;
  return input.dim() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::Contiguous;
}

Tensor convolved(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                 const ConvolutionGeometry& geometry, auto add_steps) {
  auto output = at::empty(convolution_sizes(input, weight, bias, geometry),
                          input.options().memory_format(format_of_result(input)));
  PostOps steps;
  add_steps(steps, output.sizes());
  convolve(output, input, weight, bias, geometry, std::move(steps));
  return output;
}

Tensor convolution_unary(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         IntArrayRef padding, IntArrayRef stride, IntArrayRef dilation, std::int64_t groups,
                         std::string_view attr, StepScalars scalars, StepName algorithm) {
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  return convolved(
      input, weight, bias, {stride, padding, dilation, false, {}, groups},
      [&](PostOps& steps, IntArrayRef) { add_activation(steps, attr, scalars, algorithm.value_or("none")); });
}

Tensor convolution_binary(const Tensor& input, const Tensor& other, const Tensor& weight,
                          const std::optional<Tensor>& bias, IntArrayRef padding, IntArrayRef stride,
                          IntArrayRef dilation, std::int64_t groups, std::string_view binary,
                          std::optional<at::Scalar> alpha, StepName unary, StepScalars scalars,
                          StepName algorithm) {
  auto guard = guard_for(input, weight, bias, other);
  check_one_device(input, weight, bias, other);
  std::vector<Tensor> operands;
  return convolved(input, weight, bias, {stride, padding, dilation, false, {}, groups},
                   [&](PostOps& steps, IntArrayRef sizes) {
                     operands = readable_operands(other, sizes);
                     add_binary(steps, binary, alpha, operands[0], sizes);
                     add_activation(steps, unary.value_or("none"), scalars, algorithm.value_or("none"));
                   });
}

Tensor& convolution_binary_(Tensor& other, const Tensor& input, const Tensor& weight,
                            const std::optional<Tensor>& bias, IntArrayRef padding, IntArrayRef stride,
                            IntArrayRef dilation, std::int64_t groups, std::string_view binary,
                            std::optional<at::Scalar> alpha, StepName unary, StepScalars scalars,
                            StepName algorithm) {
  auto guard = guard_for(input, weight, bias, other);
  check_one_device(input, weight, bias, other);
  ConvolutionGeometry geometry{stride, padding, dilation, false, {}, groups};
  TORCH_CHECK(binary == "add", "expected the binary step 'add' in place, got '", binary, "'");
  TORCH_CHECK(!alpha || alpha->equal(1), "a binary step expects alpha = 1");
  TORCH_CHECK(other.sizes() == IntArrayRef(convolution_sizes(input, weight, bias, geometry)),
              "expected a result of shape ", IntArrayRef(convolution_sizes(input, weight, bias, geometry)),
              ", got ", other.sizes());
  TORCH_CHECK(other.scalar_type() == input.scalar_type(), "expected a result of type ", input.scalar_type(),
              ", got ", other.scalar_type());
  PostOps steps{{xpu::dnn::PostOp::Kind::sum, 1}};
  add_activation(steps, unary.value_or("none"), scalars, algorithm.value_or("none"));
  convolve(other, input, weight, bias, geometry, std::move(steps));
  return other;
}

// Weights of a transposed convolution are [g * o, i / g, ...] for these operators and [g * (i / g), o, ...]
// for PyTorch's others; the function leads from either to the other.
Tensor transposed_weights(const Tensor& weight, std::int64_t groups) {
  if (groups == 1) return weight.transpose(0, 1);
  return weight.unflatten(0, {groups, weight.size(0) / groups}).transpose(1, 2).flatten(0, 1);
}

Tensor convolution_transpose_unary(const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias, IntArrayRef padding,
                                   IntArrayRef output_padding, IntArrayRef stride, IntArrayRef dilation,
                                   std::int64_t groups, std::string_view attr, StepScalars scalars,
                                   StepName algorithm) {
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  return convolved(
      input, transposed_weights(weight, groups), bias,
      {stride, padding, dilation, true, output_padding, groups},
      [&](PostOps& steps, IntArrayRef) { add_activation(steps, attr, scalars, algorithm.value_or("none")); });
}

// weight: [output features, input features]
Tensor linear_with_steps(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         auto add_steps) {
  TORCH_CHECK(input.dim() > 0 && weight.dim() == 2 && input.size(-1) == weight.size(1), "linear: shapes ",
              input.sizes(), " and ", weight.sizes(), " cannot be multiplied");
  auto rows = input.reshape({-1, input.size(-1)});
  auto sizes = input.sizes().vec();
  sizes.back() = weight.size(0);
  auto output = at::empty({rows.size(0), weight.size(0)}, input.options());
  GemmEpilogue epilogue;
  if (given(bias)) {
    epilogue.addend = *bias;
    epilogue.beta = 1;
  }
  add_steps(epilogue.post_ops, output.sizes());
  gemm(output, rows, weight.t(), epilogue);
  return output.view(sizes);
}

Tensor linear_unary(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                    std::string_view attr, StepScalars scalars, StepName algorithm) {
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  return linear_with_steps(input, weight, bias, [&](PostOps& steps, IntArrayRef) {
    add_activation(steps, attr, scalars, algorithm.value_or("none"));
  });
}

Tensor linear_binary(const Tensor& input, const Tensor& other, const Tensor& weight,
                     const std::optional<Tensor>& bias, std::string_view attr) {
  auto guard = guard_for(input, weight, bias, other);
  check_one_device(input, weight, bias, other);
  auto sizes = input.sizes().vec();
  sizes.back() = weight.size(0);
  auto operand = other.expand(sizes).reshape({-1, weight.size(0)});
  return linear_with_steps(input, weight, bias, [&](PostOps& steps, IntArrayRef result) {
    add_binary(steps, attr, {}, operand, result);
  });
}

Tensor reordered_convolution_weight(const Tensor& weight, IntArrayRef, IntArrayRef, IntArrayRef, std::int64_t,
                                    at::OptionalIntArrayRef) {
  return weight;
}

Tensor reordered_transposed_weight(const Tensor& weight, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef,
                                   std::int64_t groups, at::OptionalIntArrayRef) {
  return transposed_weights(weight, groups);
}

Tensor reordered_linear_weight(const Tensor& weight, std::optional<std::int64_t>) {
  return weight;
}

}  // namespace

TORCH_LIBRARY_IMPL(mkldnn, XPU, m) {
  m.impl("_convolution_pointwise", convolution_unary);
  m.impl("_convolution_pointwise.binary", convolution_binary);
  m.impl("_convolution_pointwise_.binary", convolution_binary_);
  m.impl("_convolution_transpose_pointwise", convolution_transpose_unary);
  m.impl("_linear_pointwise", linear_unary);
  m.impl("_linear_pointwise.binary", linear_binary);
  m.impl("_reorder_convolution_weight", reordered_convolution_weight);
  m.impl("_reorder_convolution_transpose_weight", reordered_transposed_weight);
  m.impl("_reorder_linear_weight", reordered_linear_weight);
}

}  // namespace torch_xpu
