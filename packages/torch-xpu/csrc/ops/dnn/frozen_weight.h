// Frozen weights: tensors whose numbers never change, with the copies that products of them packed.
#pragma once

#include <ATen/core/Tensor.h>

#include "xpu/dnn/packed_weights.h"

namespace torch_xpu {

/// Returns a contiguous copy of a weight that has copies in other layouts beside it, as products make them.
/// They are freed with its memory.
at::Tensor freeze_weight(const at::Tensor& weight);

/// Returns the copies of a tensor in the memory of freeze_weight(); null for other tensors, which copies,
/// moves and files of frozen weights are.
xpu::dnn::PackedWeights* packed_weights(const at::Tensor& weight);

/// Throws unless all zero points of a weight are 0. They are read once for each frozen weight, and not while
/// a graph captures the stream.
void check_symmetric(const at::Tensor& weight, const at::Tensor& zero_points);

}  // namespace torch_xpu
