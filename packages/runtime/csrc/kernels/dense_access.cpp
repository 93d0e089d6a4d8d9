#include "kernels/dense_access.h"

#include <algorithm>

#include "xpu/kernels/copy.h"

namespace xpu::kernels {
namespace {

// The dimensions in which the tensor moves.
Tensor without_repeats(const Tensor& t) {
  Tensor moving = t;
  moving.ndim = 0;
  for (int d = 0; d < t.ndim; ++d) {
    if (t.strides[d] == 0) continue;
    moving.shape[moving.ndim] = t.shape[d];
    moving.strides[moving.ndim++] = t.strides[d];
  }
  return moving;
}

Tensor stand_in(Stream stream, const Tensor& t, Temporary& memory) {
  memory = Temporary(stream, static_cast<std::size_t>(t.numel()) * size_of(t.dtype));
  return row_major(memory.data(), t.dtype, t);
}

bool indexed(const IndexedAccess& a, int dim) {
  return std::any_of(a.index, a.index + a.indices, [&](auto& index) { return index.dim == dim; });
}

// What the walk meets of a dimension of the target: all of it where an index adds to the position.
std::int64_t met(const IndexedAccess& a, int d) {
  return indexed(a, a.walks[d]) ? a.target.shape[a.walks[d]] : a.moved.shape[d];
}

}  // namespace

bool needs_dense(const IndexedAccess& a) {
  auto wide = std::count_if(a.moved.shape, a.moved.shape + a.moved.ndim, [](auto size) { return size != 1; });
  if (wide <= Geometry::most_dims) return false;
  bool one = std::all_of(a.moved.strides, a.moved.strides + a.moved.ndim, [](auto s) { return s == 0; });
  bool dense = (one || a.moved.contiguous()) && a.target.contiguous();
  for (int d = 0; d < a.moved.ndim; ++d)
    dense = dense && (a.walks[d] == IndexedAccess::nowhere || met(a, d) == a.target.shape[a.walks[d]]);
  for (int k = 0; k < a.indices; ++k) dense = dense && without_repeats(a.index[k].values).contiguous();
  return !dense;
}

DenseAccess::DenseAccess(Stream stream, const IndexedAccess& access, Writes writes)
    : stream_(stream), access_(access) {
  auto& a = access_;
  for (int d = 0; d < a.moved.ndim; ++d)
    if (a.walks[d] != IndexedAccess::nowhere) a.target.shape[a.walks[d]] = met(access, d);
  wanted_ = writes == Writes::moved ? a.moved : a.target;
  auto target = stand_in(stream, a.target, target_), moved = stand_in(stream, a.moved, moved_);
  copy(stream, target, a.target);
  if (writes == Writes::target) copy(stream, moved, a.moved);
  a.target = target, a.moved = moved;
  made_ = writes == Writes::moved ? a.moved : a.target;
  for (int k = 0; k < a.indices; ++k) {
    auto& values = a.index[k].values;
    auto moving = without_repeats(values), copied = stand_in(stream, moving, index_[k]);
    copy(stream, copied, moving);
    values.data = copied.data;
    for (int d = 0, i = 0; d < values.ndim; ++d)
      if (values.strides[d] != 0) values.strides[d] = copied.strides[i++];
  }
}

void DenseAccess::finish() {
  copy(stream_, wanted_, made_);
}

}  // namespace xpu::kernels
