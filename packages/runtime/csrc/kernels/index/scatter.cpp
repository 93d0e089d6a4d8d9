// Writing through indices.
#include "kernels/index/access.h"
#include "kernels/index/combine.h"
#include "kernels/require.h"
#include "kernels/scratch_buffer.h"
#include "process/immortal.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/kernels/fill.h"

namespace xpu::kernels {
namespace {

// One value on the device, in the shape of another tensor.
struct Filled {
  Filled(Stream stream, DType dtype, Scalar value, const Tensor& shape)
      : memory(stream, size_of(dtype)), tensor(memory.data(), dtype, {}) {
    fill(stream, tensor, value);
    tensor = broadcast_to("scatter", "the value", tensor, shape);
  }
  ScratchBuffer memory;
  Tensor tensor;
};

const Elementwise& mean_op() {
  static auto& op = immortal<Elementwise>(Expression{
      .name = "scatter_mean",
      .outputs = {"mean(a0, a1)"},
      .inputs = 2,
      .headers = {"math", "integer"},
      .helpers = "template <class A> XPU_FN A mean(A sum, i32 n) {\n"
                 "  if (n <= 1) return sum;\n"
                 "  if constexpr (is_float<A>) return sum / (A)n;\n"
                 "  else if constexpr (is_bool<A>) return sum;\n"
                 "  else return xpu::floor_div(sum, (A)n);\n"
                 "}\n",
      .unconverted_inputs = 2,
  });
  return op;
}

}  // namespace

void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
             const Combiner& combiner, IndexOptions options) {
  require_no_overlap("scatter", out);
  combine(stream, dimension_access("scatter", src, out, dim, index, options), combiner,
          options.deterministic);
}

void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, Scalar value,
             const Combiner& combiner, IndexOptions options) {
  if (index.numel() == 0) return;
  Filled filled(stream, out.dtype, value, index);
  scatter(stream, out, dim, index, filled.tensor, combiner, options);
}

void scatter_mean(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                  bool include_self, IndexOptions options) {
  expect<UsageError>(!is_complex(out.dtype), "scatter_mean: the output is ", out, ", expected real numbers");
  if (index.numel() == 0 || out.numel() == 0) return;
  ScratchBuffer memory(stream, static_cast<std::size_t>(out.numel()) * sizeof(std::int32_t));
  Tensor count = out;
  count.data = memory.data(), count.dtype = DType::i32;
  std::int64_t step = 1;
  for (int d = count.ndim - 1; d >= 0; --d) count.strides[d] = step, step *= count.shape[d];
  fill(stream, count, include_self ? 1 : 0);
  auto& add = combiner(Combine::add);
  if (!include_self) scatter(stream, out, dim, index, Scalar(0), combiner(Combine::replace), options);
  scatter(stream, out, dim, index, src, add, options);
  scatter(stream, count, dim, index, Scalar(1), add, options);
  Tensor inputs[] = {out, count};
  mean_op()(stream, {&out, 1}, inputs, {}, out.dtype);
}

void index_combine(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                   const Combiner& combiner, IndexOptions options) {
  require_no_overlap("index_combine", out);
  combine(stream, slices_access("index_combine", src, out, dim, index, options), combiner,
          options.deterministic);
}

void embedding_backward(Stream stream, const Tensor& grad_weight, const Tensor& grad, const Tensor& index,
                        std::optional<std::int64_t> padding_index, IndexOptions options) {
  expect<UsageError>(grad_weight.ndim == 2, "embedding_backward: the weight's gradient is ", grad_weight,
                     ", expected two dimensions");
  require_no_overlap("embedding_backward", grad_weight);
  auto access = slices_access("embedding_backward", grad, grad_weight, 0, index, options);
  access.skips = padding_index.has_value();
  access.skip = padding_index.value_or(0);
  fill(stream, grad_weight, 0);
  combine(stream, access, combiner(Combine::add), options.deterministic);
}

void index_put(Stream stream, const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
               const Combiner& combiner, IndexOptions options) {
  require_no_overlap("index_put", x);
  combine(stream, index_tensors_access("index_put", values, x, indices, options), combiner,
          options.deterministic);
}

}  // namespace xpu::kernels
