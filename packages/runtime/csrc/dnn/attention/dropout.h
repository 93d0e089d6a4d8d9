// Attention's dropout: an element's number decides whether it is dropped, in forward and backward alike.
#pragma once

#include <cstdint>

#include "xpu/dnn/attention.h"
#include "xpu/error.h"

namespace xpu::dnn {

/// The numbers of a block's queries. Elements are numbered as those of N H S T.
struct QueryNumbers {
  std::int64_t of_query[4], first;
  /// For the block of q N G H/G S D that begins at these.
  QueryNumbers(const Tensor& q, std::int64_t image, std::int64_t group, std::int64_t query);
};

/// As device/xpu/dropout.h declares it.
struct Dropout {
  std::uint64_t seed, block;
  float probability;
  explicit Dropout(const AttentionOptions& options)
      : seed(options.random.seed), block(options.random.offset / 4), probability(options.dropout) {
    expect<Unsupported>(
        !options.random.replay_state || probability == 0,
        "attention with dropout cannot be captured in a graph: every replay would drop the same weights");
  }
};

/// Drops elements of `weights`, dense [images, key heads, heads of each, queries, keys of the block]. `keys`
/// is the number of all keys.
void drop_attention(Stream stream, const Tensor& weights, std::int64_t keys, const QueryNumbers& numbers,
                    const AttentionOptions& options);

}  // namespace xpu::dnn
