#include "kernels/contiguous_access.h"

#include <algorithm>
#include <numeric>

#include "xpu/kernels/copy.h"

namespace xpu::kernels {
namespace {

Tensor stand_in(Stream stream, const Tensor& t, ScratchBuffer& memory) {
  memory = ScratchBuffer(stream, static_cast<std::size_t>(t.numel()) * size_of(t.dtype));
  return row_major(memory.data(), t.dtype, t);
}

bool many(const Tensor& t) {
  return std::count_if(t.shape, t.shape + t.ndim, [](auto size) { return size != 1; }) > Geometry::max_kernel_dims;
}

// How many dimensions describe a tensor, or all tensors of a walk: those that lie one inside the other count
// as one.
int dims_of(const Tensor& t) {
  Geometry g;
  g.operands = 1;
  for (int d = t.ndim - 1; d >= 0; --d, ++g.dims)
    g.size[g.dims] = t.shape[d], g.stride[0][g.dims] = t.strides[d];
  simplify(g, true);
  return g.dims;
}

int dims_of(const IndexedAccess& a) {
  Geometry g;
  g.operands = 2 + a.indices;
  for (int d = a.moved.ndim - 1; d >= 0; --d, ++g.dims) {
    g.size[g.dims] = a.moved.shape[d];
    g.stride[0][g.dims] = a.moved.strides[d];
    g.stride[1][g.dims] = a.walks[d] == IndexedAccess::nowhere ? 0 : a.target.strides[a.walks[d]];
    for (int k = 0; k < a.indices; ++k) g.stride[2 + k][g.dims] = a.index[k].values.strides[d];
  }
  simplify(g, true);
  return g.dims;
}

// The dimensions that separate come first, as the target has them: copies of both then lie alike there.
// Points that meet the same element differ in the others only, which keep their order.
IndexedAccess separating_first(const IndexedAccess& a) {
  int order[Tensor::max_dims];
  std::iota(order, order + a.moved.ndim, 0);
  std::stable_sort(order, order + a.moved.ndim, [&](int one, int other) {
    auto rank = [&](int d) { return separates(a, d) ? a.walks[d] : a.target.ndim; };
    return rank(one) < rank(other);
  });
  IndexedAccess b = a;
  auto permute = [&](Tensor& to, const Tensor& from) {
    for (int i = 0; i < from.ndim; ++i)
      to.shape[i] = from.shape[order[i]], to.strides[i] = from.strides[order[i]];
  };
  permute(b.moved, a.moved);
  for (int k = 0; k < a.indices; ++k) permute(b.index[k].values, a.index[k].values);
  for (int i = 0; i < a.moved.ndim; ++i) b.walks[i] = a.walks[order[i]];
  return b;
}

// What the walk meets of the target: all of a dimension where an index adds to the position.
void narrow_target(IndexedAccess& a) {
  std::int64_t met[Tensor::max_dims];
  std::fill_n(met, a.target.ndim, 1);
  for (int d = 0; d < a.moved.ndim; ++d)
    if (a.walks[d] != IndexedAccess::nowhere) met[a.walks[d]] = a.moved.shape[d];
  for (int k = 0; k < a.indices; ++k) met[a.index[k].dim] = a.target.shape[a.index[k].dim];
  std::copy_n(met, a.target.ndim, a.target.shape);
}

}  // namespace

bool needs_contiguous(const IndexedAccess& a) {
  if (a.contiguous) return false;
  return (many(a.moved) && dims_of(a) > Geometry::max_kernel_dims) ||
         (many(a.target) && dims_of(a.target) > Geometry::max_kernel_dims);
}

ContiguousAccess::ContiguousAccess(Stream stream, const IndexedAccess& access, Writes writes)
    : stream_(stream), access_(separating_first(access)) {
  auto& a = access_;
  a.contiguous = true;
  narrow_target(a);
  wanted_ = writes == Writes::moved ? a.moved : a.target;
  auto target = stand_in(stream, a.target, target_), moved = stand_in(stream, a.moved, moved_);
  copy(stream, target, a.target);
  if (writes == Writes::target) copy(stream, moved, a.moved);
  a.target = target, a.moved = moved;
  made_ = writes == Writes::moved ? a.moved : a.target;
  copy_indices();
}

// Whole from the first dimension in which one of them moves to the last: they then lie alike, and where they
// broadcast they do not break the walk up.
void ContiguousAccess::copy_indices() {
  auto& a = access_;
  int first = a.moved.ndim, end = 0;
  for (int k = 0; k < a.indices; ++k)
    for (int d = 0; d < a.moved.ndim; ++d)
      if (a.index[k].values.strides[d] != 0 && a.moved.shape[d] != 1)
        first = std::min(first, d), end = std::max(end, d + 1);
  for (int k = 0; k < a.indices; ++k) {
    auto& values = a.index[k].values;
    Tensor part = values;
    part.ndim = std::max(end - first, 0);
    std::copy_n(values.shape + first, part.ndim, part.shape);
    std::copy_n(values.strides + first, part.ndim, part.strides);
    auto copied = stand_in(stream_, part, index_[k]);
    copy(stream_, copied, part);
    values.data = copied.data;
    std::fill_n(values.strides, values.ndim, 0);
    std::copy_n(copied.strides, part.ndim, values.strides + first);
  }
}

void ContiguousAccess::finish() {
  copy(stream_, wanted_, made_);
}

}  // namespace xpu::kernels
