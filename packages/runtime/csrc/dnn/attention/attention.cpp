#include "xpu/dnn/attention.h"

#include <algorithm>

#include "dnn/attention/block.h"
#include "dnn/attention/dropout.h"
#include "dnn/attention/few_queries.h"
#include "dnn/attention/steps.h"
#include "dnn/math_type.h"
#include "dnn/transposed.h"
#include "xpu/dnn/matmul.h"

namespace xpu::dnn {

void attention(Stream stream, const Tensor& q_, const Tensor& k_, const Tensor& v_, const Tensor& out_,
               const AttentionOptions& options) {
  check_attention(q_, k_, v_, out_, options);
  if (out_.numel() == 0 || attend_few_queries(stream, q_, k_, v_, out_, options)) return;
  auto groups = k_.shape[1], queries = q_.shape[2], keys = k_.shape[2];
  auto q = split_heads(q_, groups), k = split_heads(k_, groups), v = split_heads(v_, groups),
       out = split_heads(out_, groups);
  auto type = f32_is_fastest(stream.device()) ? DType::f32 : q.dtype;
  AttentionSoftmax softmax{options.scale, options.causal, {}, {}};
  std::optional<Tensor> mask, logsumexp;
  if (options.mask) mask = broadcast_mask(*options.mask, q_, keys, groups);
  if (options.logsumexp) logsumexp = split_heads(*options.logsumexp, groups);

  Block block(stream, q, keys, options.causal);
  auto elements = block.images * block.groups * q.shape[2] * block.queries * keys;
  auto block_rows = elements / keys, block_keys = block.images * block.groups * keys;
  auto scores = temporary(stream, elements, DType::f32),
       inverse_sum_memory = temporary(stream, block_rows, DType::f32),
       result = temporary(stream, block_rows * v.shape[4], DType::f32);
  kernels::ScratchBuffer narrow_weights;
  if (type != DType::f32) narrow_weights = temporary(stream, elements, type);
  BlockOperand convert_q(stream, q.dtype, type, block_rows * q.shape[4]),
      convert_k(stream, k.dtype, type, block_keys * k.shape[4]),
      convert_v(stream, v.dtype, type, block_keys * v.shape[4]);

  for (std::int64_t n = 0; n < q.shape[0]; n += block.images)
    for (std::int64_t g = 0; g < groups; g += block.groups) {
      auto images = std::min(block.images, q.shape[0] - n), heads = std::min(block.groups, groups - g);
      auto block_of = [&](const Tensor& t) { return narrow(narrow(t, 0, n, images), 1, g, heads); };
      auto k_block = transposed(convert_k(block_of(k))), v_block = convert_v(block_of(v));
      for (std::int64_t s = 0; s < queries; s += block.queries) {
        auto rows = std::min(block.queries, queries - s);
        auto key_count = options.causal ? visible_keys(block, s + rows, keys) : keys;
        auto of_queries = [&](const Tensor& t) { return narrow(block_of(t), 3, s, rows); };
        Tensor products(scores.data(), DType::f32, {images, heads, q.shape[2], rows, key_count});
        Tensor inverse_sums(inverse_sum_memory.data(), DType::f32, {images, heads, q.shape[2], rows, 1});
        auto weights = products;
        if (narrow_weights.data()) weights.data = narrow_weights.data(), weights.dtype = type;
        matmul(stream, convert_q(of_queries(q)), narrow(k_block, 4, 0, key_count), products);
        if (mask) softmax.mask = of_queries(*mask);
        if (logsumexp) softmax.logsumexp = of_queries(*logsumexp);
        softmax.run(stream, products, weights, inverse_sums, s);
        if (options.dropout > 0) drop_attention(stream, weights, keys, {q, n, g, s}, options);
        Tensor results(result.data(), DType::f32, {images, heads, q.shape[2], rows, v.shape[4]});
        matmul(stream, weights, narrow(v_block, 3, 0, key_count), results);
        normalize_attention(stream, results, inverse_sums, of_queries(out));
      }
    }
}

}  // namespace xpu::dnn
