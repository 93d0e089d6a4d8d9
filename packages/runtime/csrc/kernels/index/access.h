// Checks the operands of an indexing operation and describes them as an IndexedAccess, for gather and
// scatter.
#pragma once

#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// Throws UsageError for an output that overlaps itself.
void require_no_overlap(const char* op, const Tensor& out);
/// Returns `t` with the strides of its broadcast to `shape`. Throws UsageError if it does not broadcast.
Tensor broadcast_to(const char* op, const char* which, const Tensor& t, const Tensor& shape);

/// For gather and scatter: `elements` has the shape of `index`, whose values are positions in dimension
/// `dim`.
IndexedAccess dimension_access(const char* op, const Tensor& elements, const Tensor& target, int dim,
                               const Tensor& index, IndexOptions options);
/// For index_select: `elements` has the shape of `target` with the dimensions of `index` in place of `dim`.
IndexedAccess slices_access(const char* op, const Tensor& elements, const Tensor& target, int dim,
                            const Tensor& index, IndexOptions options);
/// `elements` broadcasts to what `indices` choose of `target`; see index() in xpu/kernels/index.h.
IndexedAccess index_tensors_access(const char* op, const Tensor& elements, const Tensor& target,
                                   std::span<const Tensor> indices, IndexOptions options);

/// XLA's dimension numbers, for gather and scatter. The dimensions of `elements` are the window's, which are
/// the dimensions of `target` that are neither `missing` nor `batching`, and those of `indices` but
/// `vector_dim`.
struct WindowDimensions {
  const std::vector<int>&window, &missing, &batching, &index_batching, &map;
  int vector_dim;
};
/// `sizes` are the window's in each dimension of the target. `zero` is an i32 of value 0, used if the map is
/// empty.
IndexedAccess windows_access(const char* op, const Tensor& elements, const Tensor& target,
                             const Tensor& indices, const WindowDimensions& dims,
                             std::span<const std::int64_t> sizes, OutOfRange out_of_range,
                             const Tensor& zero);

}  // namespace xpu::kernels
