#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/attention/block.h"
#include "dnn/attention/dropout.h"
#include "dnn/kernel_step.h"
#include "dnn/math_type.h"
#include "dnn/operand_checks.h"
#include "dnn/transposed.h"
#include "kernels/contiguous.h"
#include "kernels/kernel_table.h"
#include "process/immortal.h"
#include "xpu/dnn/matmul.h"
#include "xpu/error.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/fill.h"

namespace xpu::dnn {
namespace {

const char backward_name[] = "attention_backward", gradient_name[] = "attention_gradient";

// As the kernel declares it.
struct GradientShape {
  std::int64_t length, values, keys, first_query, size[4], of_query[4], first;
  std::int64_t mask[5] = {}, logsumexp[4], out[5], grad[5];
  Dropout dropout;
  float scale;
};

// The tensors of one block of queries, as images, key heads, heads of each, queries and the rest.
struct BlockTensors {
  Tensor scores, grad_weights;  // dense f32
  Tensor weights, grad_scores;  // results, dense; they may be in the same memory as the first two
  Tensor out, grad_out, logsumexp;
  std::optional<Tensor> mask;
};

std::string gradient_source(const BlockTensors& t, const AttentionOptions& options) {
  return join("#define XPU_P ", kernel_type(t.weights.dtype), "\n#define XPU_OUT ", kernel_type(t.out.dtype),
              "\n#define XPU_MASK ", t.mask ? kernel_type(t.mask->dtype) : "float", "\n#define XPU_HAS_MASK ",
              bool(t.mask), "\n#define XPU_CAUSAL ", options.causal, "\n#define XPU_DROPOUT ",
              options.dropout > 0, "\n",
              define_step("XPU_MASK_STEP", t.mask ? t.mask->strides[4] : 1, "s.mask[4]"),
              define_step("XPU_OUT_STEP", t.out.strides[4], "s.out[4]"),
              define_step("XPU_GRAD_STEP", t.grad_out.strides[4], "s.grad[4]"),
              kernel_source("attention_gradient.sycl"));
}

void score_gradients(Stream stream, const BlockTensors& t, std::int64_t keys, std::int64_t first_query,
                     const QueryNumbers& numbers, const AttentionOptions& options) {
  static auto& table = immortal<kernels::KernelTable>();
  int device = stream.device();
  auto bits = [](bool flag, int place) { return static_cast<std::uint64_t>(flag) << place; };
  auto types = static_cast<std::uint64_t>(t.weights.dtype) | static_cast<std::uint64_t>(t.out.dtype) << 8 |
               static_cast<std::uint64_t>(t.mask ? t.mask->dtype : DType::f32) << 16;
  auto flags = bits(bool(t.mask), 0) | bits(options.causal, 1) | bits(options.dropout > 0, 2) |
               bits(t.mask && t.mask->strides[4] == 1, 3) | bits(t.out.strides[4] == 1, 4) |
               bits(t.grad_out.strides[4] == 1, 5);
  auto kernel = table.find_or_make({static_cast<std::uint64_t>(device), types << 8 | flags}, [&] {
    return build_shared_kernel(device, gradient_source(t, options), gradient_name);
  });
  GradientShape s{t.scores.shape[4], t.out.shape[4], keys, first_query, {}, {}, numbers.first, {}, {}, {}, {},
                  Dropout(options),  options.scale};
  std::copy_n(t.scores.shape, 4, s.size);
  std::copy_n(numbers.of_query, 4, s.of_query);
  if (t.mask) std::copy_n(t.mask->strides, 5, s.mask);
  std::copy_n(t.logsumexp.strides, 4, s.logsumexp);
  std::copy_n(t.out.strides, 5, s.out);
  std::copy_n(t.grad_out.strides, 5, s.grad);
  auto rows = static_cast<std::size_t>(t.scores.numel() / t.scores.shape[4]);
  launch(stream, kernel, NdRange::linear(rows, row_group(device)),
         args(t.scores.data, t.grad_weights.data, t.weights.data, t.grad_scores.data, t.out.data,
              t.grad_out.data, t.logsumexp.data, t.mask ? t.mask->data : nullptr, s));
}

// Sums a gradient over blocks of queries in f32: in the gradient's memory if it is f32, otherwise in scratch
// of the images and heads of one block.
class GradientSums {
 public:
  GradientSums(Stream stream, const Tensor& like, std::int64_t max_elements) : stream_(stream) {
    if (like.dtype != DType::f32) memory_ = temporary(stream, max_elements, DType::f32);
  }
  void begin(const Tensor& result) {
    result_ = result;
    sums_ = memory_.data() ? kernels::row_major(memory_.data(), DType::f32, result) : result;
    kernels::fill(stream_, sums_, 0);
  }
  // Adds a @ b to the sums of the first keys.
  void add(const Tensor& a, const Tensor& b) {
    MatmulOptions options;
    options.post_ops = {{PostOp::Kind::sum, 1, 0, {}}};
    matmul(stream_, a, b, narrow(sums_, 3, 0, a.shape[3]), options);
  }
  void finish() {
    if (memory_.data()) kernels::copy(stream_, result_, sums_);
  }

 private:
  Stream stream_;
  kernels::ScratchBuffer memory_;
  Tensor result_, sums_;
};

// Returns N G H/G S X as N G 1 (H/G S) X, over which a key head sums. `t` must be dense unless H/G is 1.
Tensor merge_heads(Tensor t) {
  t.shape[3] *= t.shape[2];
  t.shape[2] = 1;
  return t;
}

}  // namespace

void attention_backward(Stream stream, const Tensor& grad_out_, const Tensor& q_, const Tensor& k_,
                        const Tensor& v_, const Tensor& out_, const Tensor& grad_q_, const Tensor& grad_k_,
                        const Tensor& grad_v_, const AttentionOptions& options) {
  check_attention(q_, k_, v_, out_, options);
  expect<UsageError>(bool(options.logsumexp), "attention_backward: expected the forward pass's logsumexp");
  require_shape_of(backward_name, "grad_out", grad_out_, out_, out_.dtype);
  require_shape_of(backward_name, "grad_q", grad_q_, q_, q_.dtype);
  require_shape_of(backward_name, "grad_k", grad_k_, k_, k_.dtype);
  require_shape_of(backward_name, "grad_v", grad_v_, v_, v_.dtype);
  auto groups = k_.shape[1], queries = q_.shape[2], keys = k_.shape[2];
  if (out_.numel() == 0) {
    for (auto* t : {&grad_q_, &grad_k_, &grad_v_}) kernels::fill(stream, *t, 0);
    return;
  }
  auto split = [&](const Tensor& t) { return split_heads(t, groups); };
  auto q = split(q_), k = split(k_), v = split(v_), out = split(out_), grad_out = split(grad_out_),
       grad_q = split(grad_q_), grad_k = split(grad_k_), grad_v = split(grad_v_),
       logsumexp = split(*options.logsumexp);
  std::optional<Tensor> mask;
  if (options.mask) mask = broadcast_mask(*options.mask, q_, keys, groups);

  auto type = f32_is_fastest(stream.device()) ? DType::f32 : q.dtype;
  Block block(stream, q, keys, options.causal);
  auto elements = block.images * block.groups * q.shape[2] * block.queries * keys;
  auto block_rows = elements / keys, block_keys = block.images * block.groups * keys;
  auto scores = temporary(stream, elements, DType::f32), grads = temporary(stream, elements, DType::f32);
  kernels::ScratchBuffer narrow_weights, narrow_grads, wide_q;
  if (type != DType::f32) {
    narrow_weights = temporary(stream, elements, type);
    narrow_grads = temporary(stream, elements, type);
  }
  if (type != q.dtype) wide_q = temporary(stream, block_rows * q.shape[4], type);
  bool grouped = q.shape[2] > 1;
  BlockOperand convert_q(stream, q.dtype, type, block_rows * q.shape[4], grouped),
      convert_grad(stream, q.dtype, type, block_rows * v.shape[4], grouped),
      convert_k(stream, k.dtype, type, block_keys * k.shape[4]),
      convert_v(stream, v.dtype, type, block_keys * v.shape[4]);
  GradientSums sums_k(stream, k, block_keys * k.shape[4]), sums_v(stream, v, block_keys * v.shape[4]);

  for (std::int64_t n = 0; n < q.shape[0]; n += block.images)
    for (std::int64_t g = 0; g < groups; g += block.groups) {
      auto images = std::min(block.images, q.shape[0] - n), heads = std::min(block.groups, groups - g);
      auto block_of = [&](const Tensor& t) { return narrow(narrow(t, 0, n, images), 1, g, heads); };
      auto k_block = convert_k(block_of(k)), v_block = transposed(convert_v(block_of(v)));
      sums_k.begin(block_of(grad_k));
      sums_v.begin(block_of(grad_v));
      for (std::int64_t s = 0; s < queries; s += block.queries) {
        auto rows = std::min(block.queries, queries - s);
        auto key_count = options.causal ? visible_keys(block, s + rows, keys) : keys;
        auto of_queries = [&](const Tensor& t) { return narrow(block_of(t), 3, s, rows); };
        BlockTensors t;
        t.scores = Tensor(scores.data(), DType::f32, {images, heads, q.shape[2], rows, key_count});
        t.grad_weights = t.scores;
        t.grad_weights.data = grads.data();
        t.weights = t.scores, t.grad_scores = t.grad_weights;
        if (type != DType::f32) {
          t.weights.data = narrow_weights.data(), t.weights.dtype = type;
          t.grad_scores.data = narrow_grads.data(), t.grad_scores.dtype = type;
        }
        t.out = of_queries(out), t.grad_out = of_queries(grad_out), t.logsumexp = of_queries(logsumexp);
        if (mask) t.mask = of_queries(*mask);
        auto q_block = convert_q(of_queries(q)), grad_block = convert_grad(t.grad_out);
        matmul(stream, q_block, transposed(narrow(k_block, 3, 0, key_count)), t.scores);
        matmul(stream, grad_block, narrow(v_block, 4, 0, key_count), t.grad_weights);
        score_gradients(stream, t, keys, s, {q, n, g, s}, options);

        auto to = of_queries(grad_q);
        auto product = wide_q.data() ? kernels::row_major(wide_q.data(), type, to) : to;
        matmul(stream, t.grad_scores, narrow(k_block, 3, 0, key_count), product);
        if (wide_q.data()) kernels::copy(stream, to, product);
        sums_k.add(transposed(merge_heads(t.grad_scores)), merge_heads(q_block));
        sums_v.add(transposed(merge_heads(t.weights)), merge_heads(grad_block));
      }
      sums_k.finish();
      sums_v.finish();
    }
}

}  // namespace xpu::dnn
