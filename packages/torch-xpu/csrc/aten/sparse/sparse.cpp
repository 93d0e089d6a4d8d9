// Sparse tensors in coordinates: merging what is stored twice, sums and products of elements.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_sparse_broadcast_to.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/copy_sparse_to_sparse.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/unique_consecutive.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor coalesce(const Tensor& self) {
  auto guard = guard_for(self);
  auto indices = self._indices(), values = self._values();
  if (self._nnz() < 2) return sparse_like(self, indices.clone(), values.clone(), true);
  auto sizes = self.sizes().slice(0, self.sparse_dim());
  auto [sorted, order] = flatten_indices(indices, sizes).sort();
  auto [unique, group, counts] = at::unique_consecutive(sorted, true);
  auto ordered = values.index_select(0, order);
  if (unique.numel() < sorted.numel()) ordered = group_sums(ordered, group, unique.numel());
  return sparse_like(self, unflatten_indices(unique, sizes), ordered, true);
}

Tensor& store(const Tensor& result, Tensor& out) {
  out.sparse_resize_and_clear_(result.sizes(), result.sparse_dim(), result.dense_dim());
  return at::copy_sparse_to_sparse_(out, result);
}

// Of sparse tensors what is stored in either.
Tensor sum_of(const Tensor& a, const Tensor& b, const at::Scalar& alpha, at::ScalarType type) {
  TORCH_CHECK(a.sizes() == b.sizes(), "add: expected sizes of self and other to match, but ", a.sizes(),
              " != ", b.sizes());
  TORCH_CHECK(a.sparse_dim() == b.sparse_dim() && a.dense_dim() == b.dense_dim(),
              "add: expected self and other to have same density, but got sparse dims ", a.sparse_dim(),
              " and ", b.sparse_dim());
  auto added = b._values().to(type);
  if (!alpha.equal(1)) added = added.mul(alpha);
  auto sum = sparse_like(a, at::cat({a._indices(), b._indices()}, 1),
                         at::cat({a._values().to(type), added}, 0), false);
  return a.is_coalesced() && b.is_coalesced() ? sum.coalesce() : sum;
}

// The dense tensor's elements in rows, one for each place in `sparse`'s sparse dimensions.
Tensor rows_of(const Tensor& dense, const Tensor& sparse) {
  std::int64_t count = 1;
  for (auto size : sparse.sizes().slice(0, sparse.sparse_dim())) count *= size;
  auto shape = at::DimVector(sparse.sizes().slice(sparse.sparse_dim()));
  shape.insert(shape.begin(), count);
  return dense.reshape(shape);
}

Tensor& add_to_dense(const Tensor& dense, const Tensor& sparse, const at::Scalar& alpha, Tensor& out) {
  auto sizes = at::infer_size_dimvector(dense.sizes(), sparse.sizes());
  TORCH_CHECK(sizes == dense.sizes(), "add: expected 'other' of sizes that fit in ", dense.sizes(), ", got ",
              sparse.sizes());
  auto added = sparse.sizes() == sizes ? sparse : at::_sparse_broadcast_to(sparse, sizes);
  auto type = out.scalar_type();
  auto sum = dense.to(type, false, true, at::MemoryFormat::Contiguous);
  auto values = added._values().to(type);
  if (values.numel() > 0)
    rows_of(sum, added).index_add_(0, flatten_indices(added._indices(), added.sizes()), values, alpha);
  at::native::resize_output(out, sizes);
  return out.copy_(sum);
}

Tensor& add_out(const Tensor& self, const Tensor& other, const at::Scalar& alpha, Tensor& out) {
  auto guard = guard_for(self, other, out);
  check_one_device(self, other, out);
  auto type = at::result_type(self, other);
  TORCH_CHECK(at::canCast(type, out.scalar_type()), "add: result type ", type, " can't be cast to ",
              out.scalar_type());
  if (!self.is_sparse()) return add_to_dense(self, other, alpha, out);
  TORCH_CHECK(other.is_sparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  return store(sum_of(self, other, alpha, type), out);
}

// What is stored in both.
Tensor product_of(const Tensor& a_, const Tensor& b_, at::ScalarType type) {
  auto a = a_.coalesce(), b = b_.coalesce();
  TORCH_CHECK(a.sparse_dim() == b.sparse_dim(),
              "mul: expected both to have the same number of sparse "
              "dimensions, got ",
              a.sparse_dim(), " and ", b.sparse_dim());
  auto left = a._values().to(type), right = b._values().to(type);
  if (a._nnz() == 0 || b._nnz() == 0)
    return sparse_like(a, a._indices().narrow(1, 0, 0), left.narrow(0, 0, 0), true);
  auto [at, there] =
      find_sorted(flatten_indices(b._indices(), b.sizes()), flatten_indices(a._indices(), a.sizes()));
  auto both = there.nonzero().view({-1});
  auto products = left.index_select(0, both).mul(right.index_select(0, at.index_select(0, both)));
  return sparse_like(a, a._indices().index_select(1, both), products, true);
}

Tensor product_with_dense(const Tensor& sparse, const Tensor& dense, at::ScalarType type) {
  auto values = sparse._values().to(type);
  if (dense.dim() == 0)
    return sparse_like(sparse, sparse._indices(), values.mul(dense.to(type)), sparse.is_coalesced());
  auto factors = rows_of(dense.to(type).expand(sparse.sizes()), sparse)
                     .index_select(0, flatten_indices(sparse._indices(), sparse.sizes()));
  return sparse_like(sparse, sparse._indices(), values.mul(factors), sparse.is_coalesced());
}

Tensor& mul_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto guard = guard_for(self, other, out);
  auto type = at::result_type(self, other);
  TORCH_CHECK(at::canCast(type, out.scalar_type()), "mul: result type ", type, " can't be cast to ",
              out.scalar_type());
  auto sizes = at::infer_size_dimvector(self.sizes(), other.sizes());
  auto wide = [&](const Tensor& t) {
    return t.is_sparse() && t.sizes() != sizes ? at::_sparse_broadcast_to(t, sizes) : t;
  };
  auto a = wide(self), b = wide(other);
  if (!a.is_sparse()) return store(product_with_dense(b, a, type), out);
  if (!b.is_sparse()) return store(product_with_dense(a, b, type), out);
  return store(product_of(a, b, type), out);
}

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  auto guard = guard_for(self, index);
  check_one_device(self, index);
  TORCH_CHECK_INDEX(index.dim() == 1, "index_select: expected an index of one dimension, got ", index.dim());
  dim = at::maybe_wrap_dim(dim, self.dim());
  auto sizes = self.sizes().vec();
  sizes[dim] = index.numel();
  auto result = at::empty(sizes, self.options());
  result.sparse_resize_and_clear_(sizes, self.sparse_dim(), self.dense_dim());
  auto indices = self._indices(), values = self._values();
  if (dim >= self.sparse_dim())
    return sparse_like(result, indices, values.index_select(dim - self.sparse_dim() + 1, index),
                       self.is_coalesced());
  auto [sorted, order] = index.to(at::kLong).sort();
  auto [stored, chosen] = join_sorted(indices[dim], sorted, self.size(dim));
  auto selected = indices.index_select(1, stored);
  selected.select(0, dim).copy_(order.index_select(0, chosen));
  return sparse_like(result, selected, values.index_select(0, stored), false);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseXPU, m) {
  m.impl("_coalesce", coalesce);
  m.impl("add.out", add_out);
  m.impl("mul.out", mul_out);
  m.impl("index_select", index_select);
}

}  // namespace torch_xpu
