// Access to elements of a target that index tensors choose: the common form of all indexing operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/elementwise/plan.h"
#include "kernels/kernel_table.h"
#include "xpu/kernels/index.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Pairs each point p in the shape of `elements` with one element of `target`. Its position in dimension
/// target_dims[d] is p[d]; each index adds its value at p to the position in its dimension `dim`.
struct IndexedAccess {
  static constexpr int max_indices = 8, no_dim = -1;

  struct Index {
    Tensor values;      ///< in the shape of `elements`; strides may be 0
    int dim = 0;        ///< of the target
    std::int64_t last;  ///< the largest value allowed
  };

  const char* name;
  Tensor elements, target;
  int target_dims[Tensor::max_dims] = {};  ///< for each dimension of `elements`, one of `target`, or no_dim
  int indices = 0;
  Index index[max_indices] = {};
  OutOfRange out_of_range = OutOfRange::fault;
  bool wraps = false;  ///< negative indices count from the end
  bool skips = false;  ///< points whose index is `skip` are ignored
  std::int64_t skip = 0;
  bool contiguous = false;  ///< operands are copies made by ContiguousAccess

  /// Adds an index. Throws Unsupported if there are too many.
  Index& add_index(const Tensor& values, int dim);
};

/// elements = target, where the indices are in range. Both have one dtype.
void gather_elements(Stream stream, const IndexedAccess& access);
/// target = elements. Of several points with one target element, any one is stored.
void scatter_elements(Stream stream, const IndexedAccess& access);

/// A kernel over the points of an access, and how it is called.
struct AccessKernel {
  const char* name;             ///< of the kernel
  const IndexedAccess& access;  ///< strides and pointers are taken from here
  bool is_arithmetic = false;   ///< elements are computed with, so they may not be merged into wider words
  bool target_is_position = false;  ///< the kernel gets the element's row-major position, not its address
  bool keep_order = false;          ///< points are visited in row-major order
  bool line_per_item = false;  ///< an item visits all points of a line, in row-major order; see line_count
};
/// Enqueues the kernel. `text()` is called only when the kernel is new. It defines what happens at a point;
/// see kernels/indexed.sycl, before which it is put.
void enqueue_access(Stream stream, const AccessKernel& spec, KernelTable& table,
                    const std::function<std::string()>& text);

/// True if points that differ in dimension `dim` of `elements` never have the same target element.
bool is_conflict_free_dim(const IndexedAccess& access, int dim);
/// The number of lines. A line is all points that agree in every conflict-free dimension.
std::int64_t line_count(const IndexedAccess& access);

/// True if there is nothing to do. Throws UsageError if the target is empty and out-of-range indices are not
/// dropped.
bool is_empty_access(const IndexedAccess& access);

}  // namespace xpu::kernels
