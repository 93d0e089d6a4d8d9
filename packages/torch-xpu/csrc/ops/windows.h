// Results whose elements are made of windows of their source, in up to three spatial dimensions.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "ops/taps.h"

namespace torch_xpu {

/// A rule for each spatial dimension of the tensors, which are [[N] C] [D [H]] W of any strides. All computed
/// in float for the narrow floats, and rounded once.

/// out = the weighted sum over each window.
void window_sum(const at::Tensor& out, const at::Tensor& source, std::span<const Rule> rules);
/// out = the largest of each window, where = its row-major place in the source's plane (i64). The last NaN
/// wins.
void window_max(const at::Tensor& out, const at::Tensor& where, const at::Tensor& source,
                std::span<const Rule> rules);
/// The backward of window_max: rules are turned.
void window_max_backward(const at::Tensor& grad_in, const at::Tensor& grad_out, const at::Tensor& where,
                         std::span<const Rule> rules);

}  // namespace torch_xpu
