// Attention is computed in blocks of queries of some heads of some images, one after another.
#pragma once

#include <cstdint>

#include "kernels/scratch_buffer.h"
#include "xpu/dnn/attention.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// Returns N H S X as N G H/G S X, or N H S as N G H/G S.
Tensor split_heads(const Tensor& t, std::int64_t groups);
/// Returns the mask as N G H/G S T, with strides of 0 where it is broadcast.
Tensor broadcast_mask(const Tensor& mask, const Tensor& q, std::int64_t keys, std::int64_t groups);

/// Returns the view of `size` elements along `dimension` from `start`.
Tensor narrow(Tensor t, int dimension, std::int64_t start, std::int64_t size);

kernels::ScratchBuffer temporary(Stream stream, std::int64_t elements, DType type);

/// Returns blocks of a tensor in the type of the product: views, or copies, which the next block overwrites.
class BlockOperand {
 public:
  /// Always copies with `dense`.
  BlockOperand(Stream stream, DType given, DType type, std::int64_t max_elements, bool dense = false);
  Tensor operator()(const Tensor& t) const;

 private:
  Stream stream_;
  DType type_;
  kernels::ScratchBuffer copy_;
};

/// The numbers of images, key heads and queries in one block.
struct Block {
  std::int64_t images, groups, queries;
  /// For q N G H/G S D.
  Block(Stream stream, const Tensor& q, std::int64_t keys, bool causal);
};

/// Returns the number of keys that a causal block ending before `query` is multiplied with. It is rounded up,
/// so that few shapes of matrix product are built.
std::int64_t visible_keys(const Block& block, std::int64_t query, std::int64_t keys);

/// Throws UsageError unless tensors and options fit together.
void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                     const AttentionOptions& options);

}  // namespace xpu::dnn
