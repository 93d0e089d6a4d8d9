// Matrix products of PyTorch tensors of every dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "xpu/dnn/matmul.h"

namespace torch_xpu {

/// What follows a product: beta * addend + alpha * product, then an activation.
struct GemmEpilogue {
  at::Scalar alpha = 1, beta = 0;
  at::Tensor addend = {};  ///< broadcasts against the result, and may be it; not read when beta is 0
  std::optional<xpu::dnn::PostOp::Kind> activation = {};  ///< of real floats
};

/// c = a @ b with an epilogue, in two dimensions, or three with a batch. Conjugate views are resolved.
void gemm(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, const GemmEpilogue& epilogue = {});

/// Returns the program's settings: deterministic algorithms, and whether f32 may use TF32.
xpu::dnn::MatmulOptions matmul_options();

}  // namespace torch_xpu
