// Matrix products of PyTorch tensors of every dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/dnn/post_ops.h"
#include "xpu/dnn/matmul.h"

namespace torch_xpu {

/// What follows a product: beta * addend + alpha * product, then steps.
struct GemmEpilogue {
  at::Scalar alpha = 1, beta = 0;
  at::Tensor addend = {};  ///< broadcasts against the result, and may be it; not read when beta is 0
  PostOps post_ops = {};   ///< see has_post_ops()
};

/// Returns true if products of the type take steps: they compute in f32.
bool has_post_ops(at::ScalarType type);

/// c = a @ b with an epilogue, in two dimensions, or three with a batch. Conjugate views are resolved.
void gemm(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, const GemmEpilogue& epilogue = {});

/// Multiplies all results by `factor`, of one element, before the bias is added. `factor` must outlive the
/// call.
void multiply_before_bias(xpu::dnn::MatmulOptions& options, const at::Tensor& factor);

/// Returns the program's settings: deterministic algorithms, and whether f32 may use TF32.
xpu::dnn::MatmulOptions matmul_options();

}  // namespace torch_xpu
