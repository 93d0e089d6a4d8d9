#pragma once

#include <optional>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension. Mean and variance (f32,
/// the shape of x less its last dimension) are written when given.
XPU_API void layer_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                        const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                        const std::optional<Tensor>& variance, float epsilon);
/// Normalizes each channel of N C ... as layer_norm() does the last dimension. With `training`, mean and
/// (biased) variance, both f32[C], are computed and written; otherwise they are read.
XPU_API void batch_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                        const std::optional<Tensor>& bias, const Tensor& mean, const Tensor& variance,
                        float epsilon, bool training);
/// Softmax along one axis; with `log` its logarithm.
XPU_API void softmax(Stream stream, const Tensor& x, const Tensor& y, int axis, bool log = false);

}  // namespace xpu::dnn
