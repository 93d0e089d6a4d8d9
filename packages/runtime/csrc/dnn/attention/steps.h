// What attention does with a block of queries between and after its matrix products.
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

  /// `scores`, dense f32[images, key heads, heads of each, queries, keys], are overwritten. `weights`, of the
  /// same shape and perhaps the same memory, get exp(score - the query's largest), and `inverse_sums`, dense f32 of
  /// as many queries, one over each query's sum of them. The block's first query is number `first_query`.
  void run(Stream stream, const Tensor& scores, const Tensor& weights, const Tensor& inverse_sums,
           std::int64_t first_query) const;
};

/// out = sums * inverse_sums; `sums` are dense f32[images, key heads, heads of each, queries, values].
void normalize_attention(Stream stream, const Tensor& sums, const Tensor& inverse_sums, const Tensor& out);

}  // namespace xpu::dnn
