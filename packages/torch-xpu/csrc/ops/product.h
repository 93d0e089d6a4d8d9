// Matrix products of PyTorch's tensors, of every dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "xpu/dnn/matmul.h"

namespace torch_xpu {

/// What is done with a product: beta * addend + alpha * product, then an activation.
struct Product {
  at::Scalar alpha = 1, beta = 0;
  at::Tensor addend = {};  ///< broadcasts against the result, and may be it; not read when beta is 0
  std::optional<xpu::dnn::PostOp::Kind> activation = {};  ///< of real floats
};

/// c = a @ b with what `product` says: two dimensions, or three with a batch. Conjugate views are meant.
void multiply(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, const Product& product = {});

/// What the program has set: deterministic algorithms, and whether f32 may lose bits.
xpu::dnn::MatmulOptions matmul_options();

}  // namespace torch_xpu
