// The quantized operands of PyTorch's operators `onednn::qlinear_pointwise` and `onednn::qconv_pointwise`.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/dnn/post_ops.h"
#include "xpu/dnn/attributes.h"

namespace torch_xpu {

/// A scale and zero point for all elements, in device memory, which the tensors here keep alive.
struct TensorQuantization {
  at::Tensor scale, zero_point;  ///< undefined: 1 and 0

  static TensorQuantization of(double scale, std::int64_t zero_point, const at::Tensor& input);
  /// Throws unless each has one element and is on the input's device. A zero point without elements is 0.
  static TensorQuantization of(const at::Tensor& scale, const at::Tensor& zero_point,
                               const at::Tensor& input);
  xpu::dnn::Quantization view() const;
};

/// What an integer result is stored as.
struct ResultType {
  at::ScalarType type;
  TensorQuantization quantization;
  double scale = 1;
  std::int64_t zero_point = 0;

  /// Throws for types other than int8, uint8, float32 and bfloat16, and for floats with a scale or zero
  /// point.
  static ResultType of(const char* op, std::optional<at::ScalarType> type, double scale,
                       std::int64_t zero_point, const at::Tensor& input);
};

/// The activation, which is the last step. torch_xpu/quantized_ranges.py may append marks to the algorithm.
/// They say that the input or the result has no number over 127.
struct Activation {
  std::string_view name;
  c10::List<std::optional<at::Scalar>> scalars;
  std::string_view algorithm;

  /// True if no number of the input is over 127.
  bool has_small_input() const { return has(";x<128"); }
  /// Appends the steps. Cuts the result at 127 if a mark says so.
  void append_to(PostOps& steps, const ResultType& result) const;

 private:
  bool has(std::string_view mark) const { return algorithm.find(mark) != std::string_view::npos; }
};

/// The step with another tensor, before the activation.
struct BinaryStep {
  std::string_view name;  ///< "add", or "sum": the tensor is also the result
  at::Tensor operand;
  double scale;
  std::int64_t zero_point;

  /// Throws for other names, a factor other than 1, and types that do not fit the result's.
  void check(const char* op, double alpha, const ResultType& result) const;
};

/// Throws unless the input is int8 or uint8, the weight int8, and the weight has scales of f32, one for all
/// or one for each of `channels`, and zero points of 0.
void check_quantized_operands(const char* op, const at::Tensor& input, const at::Tensor& weight,
                              const at::Tensor& scales, const at::Tensor& zero_points,
                              const std::optional<at::Tensor>& bias, std::int64_t channels);

/// The scales of a weight: without dimensions, or with `ndim` of them, of which `channel_dim` has several
/// elements.
at::Tensor weight_scales(const at::Tensor& scales, std::int64_t ndim, std::int64_t channel_dim);

}  // namespace torch_xpu
