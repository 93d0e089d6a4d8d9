// The walks of PyTorch's indexing operations, checked: each is read by one operation and written by another.
#pragma once

#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// Throws UsageError for an output that overlaps itself.
void require_apart(const char* op, const Tensor& out);
/// The tensor with the strides of its broadcast to `shape`.
Tensor broadcast_to(const char* op, const char* which, const Tensor& t, const Tensor& shape);

/// `moved` has the shape of `index`, which replaces dimension `dim` of `target`.
IndexedAccess along_dimension(const char* op, const Tensor& moved, const Tensor& target, int dim,
                              const Tensor& index, IndexOptions options);
/// `moved` is `target` with the dimensions of `index` in place of `dim`.
IndexedAccess of_slices(const char* op, const Tensor& moved, const Tensor& target, int dim,
                        const Tensor& index, IndexOptions options);
/// `moved` broadcasts to what `indices` choose of `target`; see index() in xpu/kernels/index.h.
IndexedAccess of_index_tensors(const char* op, const Tensor& moved, const Tensor& target,
                               std::span<const Tensor> indices, IndexOptions options);

/// XLA's dimension numbers, in words for both directions. `moved` has window dimensions, which walk the
/// dimensions of `target` that are neither `missing` nor `batching`, and those of `indices` but `vector_dim`.
struct WindowDimensions {
  const std::vector<int>&window, &missing, &batching, &index_batching, &map;
  int vector_dim;
};
/// `sizes`: of the window in each dimension of the target. `zero` is an i32 of value 0, used when the map is
/// empty.
IndexedAccess of_windows(const char* op, const Tensor& moved, const Tensor& target, const Tensor& indices,
                         const WindowDimensions& dims, std::span<const std::int64_t> sizes,
                         OutOfRange out_of_range, const Tensor& zero);

}  // namespace xpu::kernels
