#include "kernels/contiguous.h"
#include "kernels/matrices/matrices.h"
#include "kernels/require.h"
#include "kernels/scratch_buffer.h"
#include "process/immortal.h"
#include "xpu/kernels/elementwise.h"

namespace xpu::kernels {
namespace {

Tensor batch_of(void* data, DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  return Tensor(data, dtype, {batch, rows, columns});
}

std::size_t bytes_of(const Tensor& t) {
  return static_cast<std::size_t>(t.numel()) * size_of(t.dtype);
}

// One part of a complex array.
Tensor part(Tensor t, int which) {
  auto type = part_type(t.dtype);
  t.data = static_cast<char*>(t.data) + static_cast<std::size_t>(which) * size_of(type);
  t.dtype = type;
  for (int d = 0; d < t.ndim; ++d) t.strides[d] *= 2;
  return t;
}

// b as the real matrix by which an interleaved complex one is multiplied: [re im; -im re] for each element.
void spread(Stream stream, const Tensor& out, const Tensor& b, bool conjugate_a, bool conjugate_b) {
  static auto& kernel =
      immortal<Elementwise>(Expression{.name = "complex_as_real",
                                       .outputs = {"a0", "p1 * a1", "p0 * p1 * -a1", "p0 * a0"},
                                       .inputs = 2,
                                       .scalars = 2});
  auto place = [&](int row, int column) {
    auto view = narrow(narrow(out, 1, row, b.shape[1]), 2, column, b.shape[2]);
    view.strides[1] *= 2;
    view.strides[2] *= 2;
    return view;
  };
  Tensor outs[] = {place(0, 0), place(0, 1), place(1, 0), place(1, 1)}, in[] = {part(b, 0), part(b, 1)};
  Scalar signs[] = {conjugate_a ? -1.0 : 1.0, conjugate_b ? -1.0 : 1.0};
  kernel(stream, outs, in, signs, out.dtype);
}

void subtract_complex(Stream stream, const Tensor& c, const Tensor& a, const Tensor& b,
                      const dnn::MatmulOptions& options, bool conjugate_a, bool conjugate_b) {
  static auto& subtract =
      immortal<Elementwise>(Expression{.name = "subtract_product", .outputs = {"a0 - a1"}, .inputs = 2});
  auto real = part_type(c.dtype);
  auto size = size_of(c.dtype);
  std::int64_t batch = c.shape[0], rows = c.shape[1], columns = c.shape[2], inner = a.shape[2];
  ScratchBuffer spread_b(stream, 2 * bytes_of(b)),
      memory(stream, static_cast<std::size_t>(batch * rows * columns) * size);
  auto wide = batch_of(spread_b.data(), real, b.shape[0], 2 * inner, 2 * columns);
  spread(stream, wide, b, conjugate_a, conjugate_b);
  ContiguousInput contiguous(stream, a);
  auto left = batch_of(contiguous.tensor().data, real, a.shape[0], rows, 2 * inner);
  dnn::matmul(stream, left, wide, batch_of(memory.data(), real, batch, rows, 2 * columns), options);
  Tensor in[] = {c, batch_of(memory.data(), c.dtype, batch, rows, columns)};
  subtract(stream, {&c, 1}, in, {}, c.dtype);
}

}  // namespace

void subtract_product(Stream stream, const Tensor& c, const Tensor& a, const Tensor& b,
                      const dnn::MatmulOptions& options, bool conjugate_a, bool conjugate_b) {
  if (c.numel() == 0 || a.numel() == 0) return;
  if (is_complex(c.dtype)) return subtract_complex(stream, c, a, b, options, conjugate_a, conjugate_b);
  using Kind = dnn::PostOp::Kind;
  auto both = options;
  both.post_ops = {{Kind::linear, -1, 0, {}}, {Kind::sum, 1, 0, {}}};
  dnn::matmul(stream, a, b, c, both);
}

}  // namespace xpu::kernels
