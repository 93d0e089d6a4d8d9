#include "dnn/attention/block.h"

#include <algorithm>

#include "dnn/operand_checks.h"
#include "dnn/problem.h"
#include "kernels/contiguous.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/kernels/copy.h"

namespace xpu::dnn {
namespace {

// Bytes of scores in a block: on a CPU few enough to stay in its caches, but enough to need few launches.
constexpr std::int64_t cpu_block = 8 << 20, gpu_block = 64 << 20;
// In long sequences smaller blocks skip more of the keys that causal queries do not see.
constexpr std::int64_t max_queries = 512, max_causal_queries = 256;

// From this length on, a block takes only a small part of the memory that attention reads and writes.
constexpr std::int64_t long_sequence = 4096, min_block = 1 << 20;

std::int64_t block_bytes(Stream stream, const Tensor& q, std::int64_t keys) {
  auto max_bytes = device_info(stream.device()).is_gpu ? gpu_block : cpu_block;
  if (keys < long_sequence) return max_bytes;
  auto heads = q.shape[0] * q.shape[1];
  auto rows = 2 * heads * (q.shape[2] * q.shape[3] + keys);
  auto bytes = rows * q.shape[4] * static_cast<std::int64_t>(size_of(q.dtype));
  return std::clamp(bytes / 8, min_block, max_bytes);
}

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                     const AttentionOptions& o) {
  LazyText got = [&] { return join("; got q ", q, ", k ", k, ", v ", v, ", out ", out); };
  expect<UsageError>(q.ndim == 4 && k.ndim == 4 && v.ndim == 4 && out.ndim == 4,
                     "attention: expected q N H S D, k N G T D, v N G T E, out N H S E", got);
  bool floats = q.dtype == DType::f32 || q.dtype == DType::bf16 || q.dtype == DType::f16;
  expect<UsageError>(floats && k.dtype == q.dtype && v.dtype == q.dtype && out.dtype == q.dtype,
                     "attention: expected f32, bf16 or f16 everywhere", got);
  auto groups = k.shape[1];
  bool fits = q.shape[0] == k.shape[0] && q.shape[0] == v.shape[0] && q.shape[0] == out.shape[0] &&
              groups > 0 && q.shape[1] % groups == 0 && v.shape[1] == groups && out.shape[1] == q.shape[1] &&
              q.shape[3] == k.shape[3] && k.shape[2] == v.shape[2] && out.shape[2] == q.shape[2] &&
              out.shape[3] == v.shape[3];
  expect<UsageError>(fits, "attention: shapes do not fit together", got);
  expect<UsageError>(k.shape[2] > 0 && q.shape[3] > 0, "attention: expected at least one key", got);
  const std::int64_t scores[4] = {q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  if (o.mask) {
    bool broadcasts = o.mask->ndim <= 4 && (o.mask->dtype == DType::boolean || is_float(o.mask->dtype));
    for (int d = 4 - o.mask->ndim, i = 0; broadcasts && d < 4; ++d, ++i)
      broadcasts = o.mask->shape[i] == 1 || o.mask->shape[i] == scores[d];
    expect<UsageError>(broadcasts, "attention: the mask is ", *o.mask,
                       ", expected floats or booleans that broadcast against N H S T", got);
  }
  require_shape("attention", "the logsumexp", o.logsumexp, Sizes(scores, 3), DType::f32);
  expect<UsageError>(o.dropout >= 0 && o.dropout < 1, "attention: the dropout is ", o.dropout,
                     ", expected 0 <= dropout < 1");
}

Tensor split_heads(const Tensor& t, std::int64_t groups) {
  Tensor split = t;
  split.ndim = t.ndim + 1;
  std::copy(t.shape + 2, t.shape + t.ndim, split.shape + 3);
  std::copy(t.strides + 2, t.strides + t.ndim, split.strides + 3);
  split.shape[1] = groups;
  split.shape[2] = t.shape[1] / groups;
  split.strides[1] = t.strides[1] * split.shape[2];
  split.strides[2] = t.strides[1];
  return split;
}

Tensor broadcast_mask(const Tensor& mask, const Tensor& q, std::int64_t keys, std::int64_t groups) {
  Tensor wide = mask;
  wide.ndim = 4;
  const std::int64_t shape[4] = {q.shape[0], q.shape[1], q.shape[2], keys};
  for (int d = 3; d >= 0; --d) {
    int i = d - (4 - mask.ndim);
    wide.strides[d] = i >= 0 && mask.shape[i] != 1 ? mask.strides[i] : 0;
    wide.shape[d] = shape[d];
  }
  return split_heads(wide, groups);
}

Tensor narrow(Tensor t, int dimension, std::int64_t start, std::int64_t size) {
  t.data =
      static_cast<char*>(t.data) + start * t.strides[dimension] * static_cast<std::int64_t>(size_of(t.dtype));
  t.shape[dimension] = size;
  return t;
}

kernels::ScratchBuffer temporary(Stream stream, std::int64_t elements, DType type) {
  return {stream, static_cast<std::size_t>(elements) * size_of(type)};
}

BlockOperand::BlockOperand(Stream stream, DType given, DType type, std::int64_t max_elements, bool dense)
    : stream_(stream), type_(type) {
  if (given != type || dense) copy_ = temporary(stream, max_elements, type);
}

Tensor BlockOperand::operator()(const Tensor& t) const {
  if (!copy_.data()) return t;
  auto copy = kernels::row_major(copy_.data(), type_, t);
  kernels::copy(stream_, copy, t);
  return copy;
}

Block::Block(Stream stream, const Tensor& q, std::int64_t keys, bool causal) {
  auto elements = block_bytes(stream, q, keys) / 4;
  auto n = q.shape[0], g = q.shape[1], heads = q.shape[2], s = q.shape[3];
  queries = std::min(s, causal && s > max_queries ? max_causal_queries : max_queries);
  while (queries > 16 && heads * queries * keys > elements) queries = (queries + 1) / 2;
  auto max_heads = std::max<std::int64_t>(1, elements / (heads * queries * keys));
  groups = std::min(g, max_heads);
  images = groups == g ? std::min(n, std::max<std::int64_t>(1, max_heads / g)) : 1;
}

std::int64_t visible_keys(const Block& block, std::int64_t query, std::int64_t keys) {
  return std::min(keys, round_up(query, std::max(block.queries, round_up(keys, 32) / 32)));
}

}  // namespace xpu::dnn
