// Applies stencils to tensors in up to three spatial dimensions.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "ops/stencil.h"

namespace torch_xpu {

// There is a stencil for each spatial dimension of the tensors, which are [[N] C] [D [H]] W of any strides.
// Narrow floats are computed in float and rounded once.

/// out = the weighted sum over each window.
void window_sum(const at::Tensor& out, const at::Tensor& source, std::span<const Stencil> stencils);
/// out = the maximum of each window, where = its row-major position in the source's plane (i64). If there are
/// NaNs, the last one is the maximum.
void window_max(const at::Tensor& out, const at::Tensor& where, const at::Tensor& source,
                std::span<const Stencil> stencils);
/// The backward of window_max: the stencils are backward ones.
void window_max_backward(const at::Tensor& grad_in, const at::Tensor& grad_out, const at::Tensor& where,
                         std::span<const Stencil> stencils);

}  // namespace torch_xpu
