#include "xpu/dnn/attention.h"

#include <algorithm>

#include "dnn/attention_steps.h"
#include "dnn/math_type.h"
#include "dnn/problem.h"
#include "kernels/dense.h"
#include "kernels/temporary.h"
#include "xpu/device.h"
#include "xpu/dnn/matmul.h"
#include "xpu/error.h"
#include "xpu/kernels/copy.h"

namespace xpu::dnn {
namespace {

// Bytes of scores at a time: on a CPU few enough to stay in its caches, and enough for few launches.
constexpr std::int64_t cpu_block = 8 << 20, gpu_block = 64 << 20;
// Of long sequences smaller blocks skip more of what causal queries do not see.
constexpr std::int64_t most_queries = 512, most_causal_queries = 256;

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out, const AttentionOptions& o) {
  Late got = [&] { return join("; got q ", q, ", k ", k, ", v ", v, ", out ", out); };
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
    bool spreads = o.mask->ndim <= 4 && (o.mask->dtype == DType::boolean || is_float(o.mask->dtype));
    for (int d = 4 - o.mask->ndim, i = 0; spreads && d < 4; ++d, ++i)
      spreads = o.mask->shape[i] == 1 || o.mask->shape[i] == scores[d];
    expect<UsageError>(spreads, "attention: the mask is ", *o.mask,
                       ", expected floats or booleans that broadcast against N H S T", got);
  }
  if (o.logsumexp) {
    bool same = o.logsumexp->ndim == 3 && o.logsumexp->dtype == DType::f32 &&
                std::equal(scores, scores + 3, o.logsumexp->shape);
    expect<UsageError>(same, "attention: the logsumexp is ", *o.logsumexp, ", expected f32 N H S", got);
  }
}

// N H S X as N G H/G S X, or N H S as N G H/G S.
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

// The mask as N G H/G S T, with strides of 0 where it is broadcast.
Tensor spread_mask(const Tensor& mask, const Tensor& q, std::int64_t keys, std::int64_t groups) {
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

Tensor part(Tensor t, int dimension, std::int64_t start, std::int64_t size) {
  t.data =
      static_cast<char*>(t.data) + start * t.strides[dimension] * static_cast<std::int64_t>(size_of(t.dtype));
  t.shape[dimension] = size;
  return t;
}

Tensor turned(Tensor t) {
  std::swap(t.shape[t.ndim - 2], t.shape[t.ndim - 1]);
  std::swap(t.strides[t.ndim - 2], t.strides[t.ndim - 1]);
  return t;
}

kernels::Temporary temporary(Stream stream, std::int64_t elements, DType type) {
  return {stream, static_cast<std::size_t>(elements) * size_of(type)};
}

// Parts of q, k or v in the type they are multiplied in.
class Operand {
 public:
  Operand(Stream stream, DType given, DType type, std::int64_t most_elements) : stream_(stream), type_(type) {
    if (given != type) copy_ = temporary(stream, most_elements, type);
  }
  Tensor operator()(const Tensor& t) const {
    if (!copy_.data()) return t;
    auto copy = kernels::row_major(copy_.data(), type_, t);
    kernels::copy(stream_, copy, t);
    return copy;
  }

 private:
  Stream stream_;
  DType type_;
  kernels::Temporary copy_;
};

// How many images, key heads and queries are done at once.
struct Block {
  std::int64_t images, groups, queries;
  Block(std::int64_t n, std::int64_t g, std::int64_t each, std::int64_t s, std::int64_t t,
        std::int64_t elements, bool causal) {
    queries = std::min(s, causal && s > most_queries ? most_causal_queries : most_queries);
    while (queries > 16 && each * queries * t > elements) queries = (queries + 1) / 2;
    auto fit = std::max<std::int64_t>(1, elements / (each * queries * t));
    groups = std::min(g, fit);
    images = groups == g ? std::min(n, std::max<std::int64_t>(1, fit / g)) : 1;
  }
};

}  // namespace

void attention(Stream stream, const Tensor& q_, const Tensor& k_, const Tensor& v_, const Tensor& out_,
               const AttentionOptions& options) {
  check(q_, k_, v_, out_, options);
  if (out_.numel() == 0) return;
  auto groups = k_.shape[1], queries = q_.shape[2], keys = k_.shape[2];
  auto q = split_heads(q_, groups), k = split_heads(k_, groups), v = split_heads(v_, groups),
       out = split_heads(out_, groups);
  auto type = f32_is_fastest(stream.device()) ? DType::f32 : q.dtype;
  AttentionSoftmax softmax{options.scale, options.causal, {}, {}};
  std::optional<Tensor> mask, logsumexp;
  if (options.mask) mask = spread_mask(*options.mask, q_, keys, groups);
  if (options.logsumexp) logsumexp = split_heads(*options.logsumexp, groups);

  bool gpu = device_info(stream.device()).is_gpu;
  Block block(q.shape[0], groups, q.shape[2], queries, keys, (gpu ? gpu_block : cpu_block) / 4,
              options.causal);
  auto elements = block.images * block.groups * q.shape[2] * block.queries * keys;
  auto rows_at_once = elements / keys, keys_at_once = block.images * block.groups * keys;
  auto scores = temporary(stream, elements, DType::f32), share = temporary(stream, rows_at_once, DType::f32),
       result = temporary(stream, rows_at_once * v.shape[4], DType::f32);
  kernels::Temporary narrow;
  if (type != DType::f32) narrow = temporary(stream, elements, type);
  Operand some_q(stream, q.dtype, type, rows_at_once * q.shape[4]),
      some_k(stream, k.dtype, type, keys_at_once * k.shape[4]),
      some_v(stream, v.dtype, type, keys_at_once * v.shape[4]);
  // Rounded, so that few different shapes of matrix product are met.
  auto step = std::max(block.queries, round_up(keys, 16) / 16);

  for (std::int64_t n = 0; n < q.shape[0]; n += block.images)
    for (std::int64_t g = 0; g < groups; g += block.groups) {
      auto images = std::min(block.images, q.shape[0] - n), heads = std::min(block.groups, groups - g);
      auto here = [&](const Tensor& t) { return part(part(t, 0, n, images), 1, g, heads); };
      auto k_here = turned(some_k(here(k))), v_here = some_v(here(v));
      for (std::int64_t s = 0; s < queries; s += block.queries) {
        auto rows = std::min(block.queries, queries - s);
        auto seen = options.causal ? std::min(keys, round_up(s + rows, step)) : keys;
        auto of_queries = [&](const Tensor& t) { return part(here(t), 3, s, rows); };
        Tensor products(scores.data(), DType::f32, {images, heads, q.shape[2], rows, seen});
        Tensor shares(share.data(), DType::f32, {images, heads, q.shape[2], rows, 1});
        auto weights = products;
        if (narrow.data()) weights.data = narrow.data(), weights.dtype = type;
        matmul(stream, some_q(of_queries(q)), part(k_here, 4, 0, seen), products);
        if (mask) softmax.mask = of_queries(*mask);
        if (logsumexp) softmax.logsumexp = of_queries(*logsumexp);
        softmax.run(stream, products, weights, shares, s);
        Tensor results(result.data(), DType::f32, {images, heads, q.shape[2], rows, v.shape[4]});
        matmul(stream, weights, part(v_here, 3, 0, seen), results);
        finish_attention(stream, results, shares, of_queries(out));
      }
    }
}

}  // namespace xpu::dnn
