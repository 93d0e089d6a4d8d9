// Attributes of a dnn operation: steps applied to its result, and quantized operands.
#pragma once

#include <optional>
#include <vector>

#include "xpu/tensor.h"

namespace xpu::dnn {

/// One step applied to the result before it is stored, in order. Steps compute in f32 (f64 for an f64
/// result). A NaN may come out of relu, clip, max and min as the other number: oneDNN picks by comparison.
struct PostOp {
  enum class Kind {
    relu,  ///< x > 0 ? x : alpha * x
    gelu_erf,
    gelu_tanh,
    silu,
    tanh,
    sigmoid,
    abs,
    sqrt,
    square,
    elu,        ///< x > 0 ? x : alpha * (exp(x) - 1)
    clip,       ///< between alpha and beta
    linear,     ///< alpha * x + beta
    hardswish,  ///< x * clip(alpha * x + beta, 0, 1)
    add,
    sub,
    mul,
    div,
    max,
    min,  ///< with `operand`
    sum   ///< + alpha * (what the result's memory held before - beta), beta an integer
  };
  Kind kind;
  float alpha = 0, beta = 0;
  std::optional<Tensor> operand = {};  ///< broadcasts against the result, aligned at the last dimension
};

/// An operand's numbers stand for scale * (number - zero_point) + offset. A result is stored as
/// round(value / scale) + zero_point; it has no offset.
///
/// Each of the three has no dimension (one value for all), or as many as the operand. Each size is then
/// 1, the operand's size, or a divisor of it: weights [K, N] with scales [K / 32, N] share one among 32 rows.
struct Quantization {
  std::optional<Tensor> scale = {}, zero_point = {}, offset = {};
  explicit operator bool() const { return scale || zero_point || offset; }
};

}  // namespace xpu::dnn
