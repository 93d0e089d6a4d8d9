// Steps after a product or a convolution: the runtime's post-ops, by the names that compiled code uses.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/dnn/attributes.h"

namespace torch_xpu {

using PostOps = std::vector<xpu::dnn::PostOp>;

/// A tensor that broadcasts against the result, as the runtime's operands do: repeated dimensions have
/// size 1.
xpu::Tensor broadcast_view(const at::Tensor& operand, at::IntArrayRef result);

/// Returns the operands of post-ops, those that oneDNN would misread as copies: the ones that are broadcast
/// in some dimensions and not in row-major order. Keep them until the work is enqueued.
std::vector<at::Tensor> readable_operands(at::TensorList operands, at::IntArrayRef result);

/// Returns the steps of `torch_xpu::fused_gemm`. Each name has two factors, whose meaning depends on the
/// step; a binary step ("add", "mul", …) takes the next of the operands. Throws if they do not fit together.
PostOps named_post_ops(const c10::List<std::string>& names, at::ArrayRef<double> factors,
                       at::TensorList operands, at::IntArrayRef result);

/// Appends an activation of PyTorch's `mkldnn` operators: "none", "relu", "gelu" with the algorithm "none" or
/// "tanh", "leaky_relu" and "hardtanh" with their scalars, …. Throws if the name is unknown.
void add_activation(PostOps& steps, std::string_view name,
                    const c10::List<std::optional<at::Scalar>>& scalars, std::string_view algorithm);

/// Appends a binary step of the `mkldnn` operators: "add", "sub", "mul" or "div". A factor alpha other than 1
/// is an error.
void add_binary(PostOps& steps, std::string_view name, const std::optional<at::Scalar>& alpha,
                const at::Tensor& operand, at::IntArrayRef result);

}  // namespace torch_xpu
