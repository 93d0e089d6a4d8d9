#include "ops/sparse.h"

#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

namespace torch_xpu {

using at::Tensor;

Tensor flatten_indices(const Tensor& indices, at::IntArrayRef sizes) {
  if (indices.size(0) == 0) return at::zeros({indices.size(1)}, indices.options());
  auto result = indices.select(0, 0).contiguous();
  for (std::int64_t d = 1; d < indices.size(0); ++d) result = result.mul(sizes[d]).add_(indices.select(0, d));
  return result;
}

Tensor unflatten_indices(const Tensor& positions, at::IntArrayRef sizes) {
  auto count = static_cast<std::int64_t>(sizes.size());
  auto result = at::empty({count, positions.numel()}, positions.options());
  auto rest = positions;
  for (auto d = count - 1; d > 0; --d) {
    result.select(0, d).copy_(rest.remainder(sizes[d]));
    rest = rest.div(sizes[d], "floor");
  }
  if (count > 0) result.select(0, 0).copy_(rest);
  return result;
}

Tensor sparse_like(const Tensor& like, const Tensor& indices, const Tensor& values, bool coalesced) {
  return at::_sparse_coo_tensor_with_dims_and_tensors(like.sparse_dim(), like.dense_dim(), like.sizes(),
                                                      indices, values, values.options().layout(at::kSparse),
                                                      coalesced);
}

std::pair<Tensor, Tensor> find_sorted(const Tensor& sorted, const Tensor& keys) {
  auto at = at::searchsorted(sorted, keys.contiguous()).clamp_max_(sorted.numel() - 1);
  return {at, sorted.index_select(0, at).eq(keys)};
}

std::pair<Tensor, Tensor> join_sorted(const Tensor& keys, const Tensor& sorted, std::int64_t bound) {
  auto starts = at::searchsorted(sorted, at::arange(bound + 1, sorted.options()));
  auto first = starts.index_select(0, keys);
  auto counts = starts.index_select(0, keys.add(1)).sub_(first);
  auto left = at::repeat_interleave(counts);
  auto shift = first.sub_(counts.cumsum(0).sub_(counts));
  return {left, at::arange(left.numel(), sorted.options()).add_(shift.index_select(0, left))};
}

Tensor rows_at(const Tensor& coalesced, const Tensor& wanted) {
  auto values = coalesced._values();
  if (coalesced._nnz() == 0 || wanted.numel() == 0) {
    auto shape = values.sizes().vec();
    shape[0] = wanted.numel();
    return at::zeros(shape, values.options());
  }
  auto [at, there] = find_sorted(flatten_indices(coalesced._indices(), coalesced.sizes()), wanted);
  return scaled_rows(values.index_select(0, at), there);
}

at::ScalarType sum_type(at::ScalarType type) {
  if (type == at::kBool) return at::kInt;
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

Tensor group_sums(const Tensor& rows, const Tensor& group, std::int64_t count) {
  auto shape = rows.sizes().vec();
  shape[0] = count;
  auto type = sum_type(rows.scalar_type());
  return at::zeros(shape, rows.options().dtype(type)).index_add_(0, group, rows.to(type)).to(rows.dtype());
}

Tensor scaled_rows(const Tensor& values, const Tensor& factors) {
  auto shape = at::DimVector(values.dim(), 1);
  shape[0] = factors.size(0);
  return values.mul(factors.view(shape));
}

}  // namespace torch_xpu
