#include "aten/quantized/operands.h"

#include <limits>

#include "ops/arguments.h"
#include "ops/dnn/device_scalar.h"
#include "ops/dnn/frozen_weight.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;

bool is_float_result(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16;
}

bool is_byte(at::ScalarType type) {
  return type == at::kByte || type == at::kChar;
}

Tensor only_element(const char* name, const Tensor& given, at::ScalarType type) {
  TORCH_CHECK(given.numel() == 1, "expected ", name, " of one element, got shape ", given.sizes());
  return given.to(type).reshape({});
}

}  // namespace

TensorQuantization TensorQuantization::of(double scale, std::int64_t zero_point, const Tensor& input) {
  TensorQuantization made;
  if (scale != 1) made.scale = device_scalar(static_cast<float>(scale), input);
  if (zero_point != 0) made.zero_point = device_scalar(static_cast<std::int32_t>(zero_point), input);
  return made;
}

TensorQuantization TensorQuantization::of(const Tensor& scale, const Tensor& zero_point,
                                          const Tensor& input) {
  check_one_device(input, scale, zero_point);
  TensorQuantization made{only_element("the input's scale", scale, at::kFloat), {}};
  if (zero_point.numel() != 0) made.zero_point = only_element("the input's zero point", zero_point, at::kInt);
  return made;
}

xpu::dnn::Quantization TensorQuantization::view() const {
  xpu::dnn::Quantization made;
  if (scale.defined()) made.scale = view_of(scale);
  if (zero_point.defined()) made.zero_point = view_of(zero_point);
  return made;
}

ResultType ResultType::of(const char* op, std::optional<at::ScalarType> given, double scale,
                          std::int64_t zero_point, const Tensor& input) {
  auto type = given.value_or(input.scalar_type());
  TORCH_CHECK(is_float_result(type) || is_byte(type), op,
              ": expected a result of float32, bfloat16, uint8 or int8, got ", type);
  if (is_float_result(type)) {
    TORCH_CHECK(scale == 1 && zero_point == 0, op, ": a result of ", type,
                " has a scale of 1 and a zero point of 0, got ", scale, " and ", zero_point);
    return {type, {}};
  }
  // The scale is given also where it is 1: a result with a scale is rounded. Some of oneDNN's fast
  // implementations have no zero points.
  TensorQuantization quantization{device_scalar(static_cast<float>(scale), input), {}};
  if (zero_point != 0) quantization.zero_point = device_scalar(static_cast<std::int32_t>(zero_point), input);
  return {type, quantization, scale, zero_point};
}

void Activation::append_to(PostOps& steps, const ResultType& result) const {
  using xpu::dnn::PostOp;
  auto before = steps.size();
  add_activation(steps, name, scalars, algorithm.substr(0, algorithm.find(';')));
  if (is_float_result(result.type) || !has(";y<128")) return;
  auto most = static_cast<float>(result.scale * static_cast<double>(127 - result.zero_point));
  bool is_relu = steps.size() > before && steps.back().kind == PostOp::Kind::relu && steps.back().alpha == 0;
  if (is_relu) steps.pop_back();
  steps.push_back({PostOp::Kind::clip, is_relu ? 0 : std::numeric_limits<float>::lowest(), most});
}

void BinaryStep::check(const char* op, double alpha, const ResultType& result) const {
  TORCH_CHECK(name == "add" || name == "sum", op, ": expected the binary step 'add' or 'sum', got '", name,
              "'");
  TORCH_CHECK(alpha == 1, op, ": a binary step expects alpha = 1, got ", alpha);
  TORCH_CHECK(operand.defined(), op, ": the binary step '", name, "' has no operand");
  auto type = operand.scalar_type();
  bool fits = name == "sum" ? type == result.type : is_float_result(type);
  TORCH_CHECK(fits, op, ": expected a summand of ",
              name == "sum" ? "the result's type " : "float32 or bfloat16",
              name == "sum" ? c10::toString(result.type) : "", ", got ", type);
  TORCH_CHECK(!is_float_result(type) || (scale == 1 && zero_point == 0), op, ": a summand of ", type,
              " has a scale of 1 and a zero point of 0, got ", scale, " and ", zero_point);
}

void check_quantized_operands(const char* op, const Tensor& input, const Tensor& weight, const Tensor& scales,
                              const Tensor& zero_points, const std::optional<Tensor>& bias,
                              std::int64_t channels) {
  TORCH_CHECK(is_byte(input.scalar_type()), op, ": expected an input of uint8 or int8, got ",
              input.scalar_type());
  TORCH_CHECK(weight.scalar_type() == at::kChar, op, ": expected a weight of int8, got ",
              weight.scalar_type());
  TORCH_CHECK(scales.scalar_type() == at::kFloat && (scales.numel() == 1 || scales.numel() == channels), op,
              ": expected weight scales of float32, 1 or ", channels, ", got ", scales.scalar_type(),
              " of shape ", scales.sizes());
  TORCH_CHECK(zero_points.numel() <= 1 || zero_points.numel() == channels, op,
              ": expected weight zero points, 1 or ", channels, ", got shape ", zero_points.sizes());
  TORCH_CHECK(!given(bias) || bias->numel() == channels, op, ": expected a bias of ", channels,
              " elements, got shape ", given(bias) ? bias->sizes() : at::IntArrayRef());
  check_symmetric(weight, zero_points);
}

Tensor weight_scales(const Tensor& scales, std::int64_t ndim, std::int64_t channel_dim) {
  if (scales.numel() == 1) return scales.reshape({});
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ndim), 1);
  sizes[static_cast<std::size_t>(channel_dim)] = scales.numel();
  return scales.contiguous().view(sizes);
}

}  // namespace torch_xpu
