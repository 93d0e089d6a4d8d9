// The kernels of attention between and after the matrix products of a block of queries.
#pragma once

#include <cstdint>
#include <optional>

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct AttentionSoftmax {
  float scale;
  bool causal;
  std::optional<Tensor> mask,
      logsumexp;  ///< of the block's queries: images, key heads, heads of each, queries

  /// Overwrites `scores`, dense f32[images, key heads, heads of each, queries, keys]. Writes exp(score - the
  /// query's largest score) to `weights`, of the same shape and perhaps the same memory, and one over each
  /// query's sum of weights to `inverse_sums`, dense f32. The block's first query is number `first_query`.
  void run(Stream stream, const Tensor& scores, const Tensor& weights, const Tensor& inverse_sums,
           std::int64_t first_query) const;
};

/// Computes out = sums * inverse_sums, with dense f32 sums[images, key heads, heads of each, queries,
/// values].
void normalize_attention(Stream stream, const Tensor& sums, const Tensor& inverse_sums, const Tensor& out);

}  // namespace xpu::dnn
