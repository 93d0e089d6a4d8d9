// A convolution in one form for all calls: each is one of three sums over a convolution x * w -> y. A
// transposed convolution has its source as y and its result as x.
#pragma once

#include <cstdint>
#include <optional>

#include "dnn/epilogue/epilogue.h"
#include "dnn/problem.h"
#include "xpu/dnn/convolution.h"

namespace xpu::dnn {

enum class ConvSum {
  y,  ///< from x and w
  x,  ///< from y and w
  w   ///< from x and y
};

struct ConvProblem {
  /// `bias` is read when y or x is summed, and written (a gradient) with w.
  /// Throws UsageError for shapes and options that do not fit together.
  ConvProblem(const char* name, int device, ConvSum sum, const Tensor& x, const Tensor& w, const Tensor& y,
              const std::optional<Tensor>& bias, const ConvOptions& options, bool forward);

  ConvSum sum;
  const ConvOptions& options;
  bool forward;
  Tensor x, w, y;
  int spatial;  ///< dimensions
  std::int64_t groups;
  std::int64_t stride[3], dilation[3], padding_l[3], padding_r[3];

  Problem problem;  ///< operands 0, 1 and 2 are x, w and y
  ExtraOperands extras;
  ExtraOperand bias, scale_src, zero_src, scale_weights, zero_weights, scale_dst, zero_dst;

  const Tensor& result() const { return sum == ConvSum::y ? y : sum == ConvSum::x ? x : w; }
  int result_operand() const { return sum == ConvSum::y ? 2 : sum == ConvSum::x ? 0 : 1; }
  bool is_plain() const { return !forward || (!options.bias && options.post_ops.empty() && !is_quantized()); }
  bool is_quantized() const { return forward && (options.src || options.weights || options.dst); }
};

/// Returns weights, or their scales, with the groups as the first dimension: [g, y channels, x channels,
/// kernel...].
Tensor split_groups(const Tensor& weights, std::int64_t groups);

/// Returns the epilogue of a forward call: bias, post-ops, the result's quantization. With `operand_scales`
/// it multiplies by the source's scale and the weights' scale first. Weights have one scale, or one for each
/// channel of the result.
Epilogue conv_epilogue(const ConvProblem& p, const char* type, bool operand_scales);

/// A 1x1 convolution by a matrix product.
std::string conv_pointwise(const ConvProblem& p, Plan& plan);
/// Layouts that oneDNN may choose: those of activations with channels last stay, or none does. For a few
/// shapes it has fast code for dense channels alone.
enum class Layouts { keep_channels_last, any };
/// All of it in one primitive.
std::string conv_onednn(const ConvProblem& p, Plan& plan, Layouts layouts);
/// All of it in one primitive, in f32: on CPUs without fp16 tiles oneDNN has no gradient of f16 weights.
std::string conv_onednn_in_f32(const ConvProblem& p, Plan& plan, Layouts layouts);
/// The sums by a primitive, the epilogue by a kernel.
std::string conv_onednn_and_kernel(const ConvProblem& p, Plan& plan);
/// All of it in one kernel.
std::string conv_sycl(const ConvProblem& p, Plan& plan);

}  // namespace xpu::dnn
