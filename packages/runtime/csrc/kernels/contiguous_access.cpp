#include "kernels/contiguous_access.h"

#include <algorithm>
#include <numeric>

#include "xpu/kernels/copy.h"

namespace xpu::kernels {
namespace {

Tensor allocate_contiguous(Stream stream, const Tensor& t, ScratchBuffer& memory) {
  memory = ScratchBuffer(stream, static_cast<std::size_t>(t.numel()) * size_of(t.dtype));
  return row_major(memory.data(), t.dtype, t);
}

bool exceeds_kernel_dims(const Tensor& t) {
  return std::count_if(t.shape, t.shape + t.ndim, [](auto size) { return size != 1; }) >
         Geometry::max_kernel_dims;
}

// The number of dimensions that describe a tensor, or all tensors of an access, once nested dimensions are
// merged.
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
  for (int d = a.elements.ndim - 1; d >= 0; --d, ++g.dims) {
    g.size[g.dims] = a.elements.shape[d];
    g.stride[0][g.dims] = a.elements.strides[d];
    g.stride[1][g.dims] = a.target_dims[d] == IndexedAccess::no_dim ? 0 : a.target.strides[a.target_dims[d]];
    for (int k = 0; k < a.indices; ++k) g.stride[2 + k][g.dims] = a.index[k].values.strides[d];
  }
  simplify(g, true);
  return g.dims;
}

// Moves conflict-free dimensions to the front, in the target's order, so that copies of both operands have
// the same layout there. Points with one target element differ in the other dimensions only, which keep their
// order.
IndexedAccess conflict_free_dims_first(const IndexedAccess& a) {
  int order[Tensor::max_dims];
  std::iota(order, order + a.elements.ndim, 0);
  std::stable_sort(order, order + a.elements.ndim, [&](int one, int other) {
    auto rank = [&](int d) { return is_conflict_free_dim(a, d) ? a.target_dims[d] : a.target.ndim; };
    return rank(one) < rank(other);
  });
  IndexedAccess b = a;
  auto permute = [&](Tensor& to, const Tensor& from) {
    for (int i = 0; i < from.ndim; ++i)
      to.shape[i] = from.shape[order[i]], to.strides[i] = from.strides[order[i]];
  };
  permute(b.elements, a.elements);
  for (int k = 0; k < a.indices; ++k) permute(b.index[k].values, a.index[k].values);
  for (int i = 0; i < a.elements.ndim; ++i) b.target_dims[i] = a.target_dims[order[i]];
  return b;
}

// Cuts the target to the part that can be accessed: all of a dimension if an index adds to its position.
void narrow_target(IndexedAccess& a) {
  std::int64_t extent[Tensor::max_dims];
  std::fill_n(extent, a.target.ndim, 1);
  for (int d = 0; d < a.elements.ndim; ++d)
    if (a.target_dims[d] != IndexedAccess::no_dim) extent[a.target_dims[d]] = a.elements.shape[d];
  for (int k = 0; k < a.indices; ++k) extent[a.index[k].dim] = a.target.shape[a.index[k].dim];
  std::copy_n(extent, a.target.ndim, a.target.shape);
}

}  // namespace

bool needs_contiguous(const IndexedAccess& a) {
  if (a.contiguous) return false;
  return (exceeds_kernel_dims(a.elements) && dims_of(a) > Geometry::max_kernel_dims) ||
         (exceeds_kernel_dims(a.target) && dims_of(a.target) > Geometry::max_kernel_dims);
}

ContiguousAccess::ContiguousAccess(Stream stream, const IndexedAccess& access, Writes writes)
    : stream_(stream), access_(conflict_free_dims_first(access)) {
  auto& a = access_;
  a.contiguous = true;
  narrow_target(a);
  destination_ = writes == Writes::elements ? a.elements : a.target;
  auto target = allocate_contiguous(stream, a.target, target_),
       elements = allocate_contiguous(stream, a.elements, elements_);
  copy(stream, target, a.target);
  if (writes == Writes::target) copy(stream, elements, a.elements);
  a.target = target, a.elements = elements;
  source_ = writes == Writes::elements ? a.elements : a.target;
  copy_indices();
}

// Copies the indices, expanded from the first dimension in which any of them varies to the last. All then
// have one layout, so that dimensions in which they broadcast can still be merged.
void ContiguousAccess::copy_indices() {
  auto& a = access_;
  int first = a.elements.ndim, end = 0;
  for (int k = 0; k < a.indices; ++k)
    for (int d = 0; d < a.elements.ndim; ++d)
      if (a.index[k].values.strides[d] != 0 && a.elements.shape[d] != 1)
        first = std::min(first, d), end = std::max(end, d + 1);
  for (int k = 0; k < a.indices; ++k) {
    auto& values = a.index[k].values;
    Tensor part = values;
    part.ndim = std::max(end - first, 0);
    std::copy_n(values.shape + first, part.ndim, part.shape);
    std::copy_n(values.strides + first, part.ndim, part.strides);
    auto copied = allocate_contiguous(stream_, part, index_[k]);
    copy(stream_, copied, part);
    values.data = copied.data;
    std::fill_n(values.strides, values.ndim, 0);
    std::copy_n(copied.strides, part.ndim, values.strides + first);
  }
}

void ContiguousAccess::finish() {
  copy(stream_, destination_, source_);
}

}  // namespace xpu::kernels
