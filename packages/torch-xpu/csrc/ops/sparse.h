// Functions that the operators of COO sparse tensors share.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace torch_xpu {

/// Returns the row-major position of each column of `indices` in dimensions of these sizes.
at::Tensor flatten_indices(const at::Tensor& indices, at::IntArrayRef sizes);

/// The inverse: returns indices [dimension, element] of row-major positions.
at::Tensor unflatten_indices(const at::Tensor& positions, at::IntArrayRef sizes);

/// Returns a tensor of `like`'s size with these indices and values.
at::Tensor sparse_like(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values,
                       bool coalesced);

/// Returns the position of each of `keys` in `sorted`, which must not be empty, and whether it occurs there.
std::pair<at::Tensor, at::Tensor> find_sorted(const at::Tensor& sorted, const at::Tensor& keys);

/// Returns all pairs of equal numbers in `keys` and `sorted`, as positions in both. The numbers are less than
/// `bound`.
std::pair<at::Tensor, at::Tensor> join_sorted(const at::Tensor& keys, const at::Tensor& sorted,
                                              std::int64_t bound);

/// Returns the rows of a coalesced tensor at these positions in its sparse dimensions; zeros if it has none.
at::Tensor rows_at(const at::Tensor& coalesced, const at::Tensor& wanted);

/// Returns the dtype in which to sum: float for half types, int for booleans.
at::ScalarType sum_type(at::ScalarType type);

/// Returns one row for each of `count` groups: the sum of the group's rows.
at::Tensor group_sums(const at::Tensor& rows, const at::Tensor& group, std::int64_t count);

/// Returns `values` [element, ...] times one factor for each element.
at::Tensor scaled_rows(const at::Tensor& values, const at::Tensor& factors);

}  // namespace torch_xpu
