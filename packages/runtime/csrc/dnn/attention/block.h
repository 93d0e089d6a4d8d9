// How attention is split: blocks of queries of some heads of some images, one after another.
#pragma once

#include <cstdint>

#include "kernels/scratch_buffer.h"
#include "xpu/dnn/attention.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// N H S X as N G H/G S X, or N H S as N G H/G S.
Tensor split_heads(const Tensor& t, std::int64_t groups);
/// The mask as N G H/G S T, with strides of 0 where it is broadcast.
Tensor spread_mask(const Tensor& mask, const Tensor& q, std::int64_t keys, std::int64_t groups);

Tensor part(Tensor t, int dimension, std::int64_t start, std::int64_t size);
/// The last two dimensions exchanged.
Tensor turned(Tensor t);

kernels::ScratchBuffer temporary(Stream stream, std::int64_t elements, DType type);

/// Parts of a tensor in the type they are multiplied in: views, or copies in memory that is kept for the next
/// part.
class Operand {
 public:
  /// Always copies with `dense`.
  Operand(Stream stream, DType given, DType type, std::int64_t most_elements, bool dense = false);
  Tensor operator()(const Tensor& t) const;

 private:
  Stream stream_;
  DType type_;
  kernels::ScratchBuffer copy_;
};

/// How many images, key heads and queries are done at once.
struct Block {
  std::int64_t images, groups, queries;
  /// For q N G H/G S D.
  Block(Stream stream, const Tensor& q, std::int64_t keys, bool causal);
};

/// The keys that a causal block ending before `query` is multiplied with: rounded, so that few different
/// shapes of matrix product are met.
std::int64_t seen_keys(const Block& block, std::int64_t query, std::int64_t keys);

/// Throws UsageError unless tensors and options fit together.
void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                     const AttentionOptions& options);

}  // namespace xpu::dnn
