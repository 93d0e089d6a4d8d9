// Sparse tensors in coordinates: what their operators share.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace torch_xpu {

/// Places in the flattened sparse dimensions, one for each element that is stored.
at::Tensor places(const at::Tensor& indices, at::IntArrayRef sizes);

/// The other way: indices [dimension, element] of places in dimensions of these sizes.
at::Tensor indices_of(const at::Tensor& places, at::IntArrayRef sizes);

/// A tensor of `like`'s size with these indices and values.
at::Tensor sparse_like(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values,
                       bool coalesced);

/// Where each of `keys` is among `sorted` ones, and whether it is there at all. There must be a sorted one.
std::pair<at::Tensor, at::Tensor> found(const at::Tensor& sorted, const at::Tensor& keys);

/// Each number in `keys` meets those equal to it in `sorted`: all such pairs, as places in `keys` and in
/// `sorted`. The numbers are less than `bound`.
std::pair<at::Tensor, at::Tensor> matches(const at::Tensor& keys, const at::Tensor& sorted,
                                          std::int64_t bound);

/// Rows of a coalesced tensor for these places in its sparse dimensions, with zeros where it has none.
at::Tensor rows_at(const at::Tensor& coalesced, const at::Tensor& wanted);

/// Sums of halves are of floats, and of booleans how many are true.
at::ScalarType sum_type(at::ScalarType type);

/// One row for each of `count` groups: the sum of the group's rows.
at::Tensor group_sums(const at::Tensor& rows, const at::Tensor& group, std::int64_t count);

/// `values` [element, ...] times one factor for each element.
at::Tensor scaled_rows(const at::Tensor& values, const at::Tensor& factors);

}  // namespace torch_xpu
