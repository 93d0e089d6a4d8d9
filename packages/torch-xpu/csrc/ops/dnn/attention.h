// Attention as scaled_dot_product_attention has it.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace torch_xpu {

/// Chooses between fused attention and the formula; differentiable, and good for whatever wraps tensors.
at::Tensor scaled_dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const std::optional<at::Tensor>& mask, double dropout, bool causal,
                                        std::optional<double> scale, bool gqa);

}  // namespace torch_xpu
