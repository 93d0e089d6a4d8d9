// Attention's dropout: an element's number says whether it stays, in the forward pass and in the backward.
#pragma once

#include <cstdint>

#include "xpu/dnn/attention.h"
#include "xpu/error.h"

namespace xpu::dnn {

/// Which queries a block is of: elements are numbered as those of N H S T.
struct QueryNumbers {
  std::int64_t of_query[4], first;
  /// The block of q N G H/G S D that begins at these.
  QueryNumbers(const Tensor& q, std::int64_t image, std::int64_t group, std::int64_t query);
};

/// As device/xpu/dropout.h declares it.
struct Dropout {
  std::uint64_t seed, block;
  float share;
  explicit Dropout(const AttentionOptions& options)
      : seed(options.random.seed), block(options.random.offset / 4), share(options.dropout) {
    expect<Unsupported>(
        !options.random.replay_state || share == 0,
        "attention with dropout cannot be captured into a graph: every replay would drop the same");
  }
};

/// Drops `weights`, dense [images, key heads, heads of each, queries, keys], of a block that may lack the
/// last keys.
void drop_attention(Stream stream, const Tensor& weights, std::int64_t keys, const QueryNumbers& numbers,
                    const AttentionOptions& options);

}  // namespace xpu::dnn
