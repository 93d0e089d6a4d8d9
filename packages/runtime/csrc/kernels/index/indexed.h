// What every indexing operation comes down to: a walk over the elements of a target that index tensors
// choose.
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

/// Point p of the walk, whose space is the shape of `moved`, meets moved[p] with the element of `target` that
/// lies at p[d] in dimension walks[d], plus, for each index, at its value at p in dimension `dim`.
struct IndexedAccess {
  static constexpr int max_indices = 8, nowhere = -1;

  struct Index {
    Tensor values;      ///< of the shape of `moved`; strides may be 0
    int dim = 0;        ///< of the target
    std::int64_t last;  ///< the largest value allowed
  };

  const char* name;
  Tensor moved, target;
  int walks[Tensor::max_dims] = {};  ///< for each dimension of `moved`, one of `target`, or nowhere
  int indices = 0;
  Index index[max_indices] = {};
  OutOfRange out_of_range = OutOfRange::fault;
  bool wraps = false;  ///< negative indices count from the end
  bool skips = false;  ///< points whose index is `skip` are left out in silence
  std::int64_t skip = 0;
  bool contiguous = false;  ///< of copies that few dimensions describe; see kernels/contiguous_access.h

  /// Another index; throws UsageError when there are too many.
  Index& add_index(const Tensor& values, int dim);
};

/// moved = target, where the indices are in range. Same dtype.
void take(Stream stream, const IndexedAccess& access);
/// target = moved; of points that meet the same element any one wins.
void put(Stream stream, const IndexedAccess& access);

/// How a kernel of a walk is made and called: shared by take, put, atomic combining and the finding of keys.
struct Walk {
  const char* name;             ///< of the kernel
  const IndexedAccess& access;  ///< strides and pointers are taken from here
  bool numbers = false;         ///< elements are numbers of their dtype, not bits: they are not widened
  bool places = false;          ///< `target` is a number, the element's row-major place, not memory
  bool keep_order = false;      ///< the walk is in row-major order
  bool in_lines = false;        ///< an item has all points of a line, in row-major order; see line_count
};
/// Queues it. `text()`, asked for when a kernel is new, is put before kernels/indexed.sycl and defines what
/// happens at a point: see there.
void queue_walk(Stream stream, const Walk& walk, KernelTable& table,
                const std::function<std::string()>& text);

/// Points that differ in this dimension of the walk never meet the same element: no index chooses in it.
bool separates(const IndexedAccess& access, int dim);
/// Points that agree in all dimensions that separate are a line.
std::int64_t line_count(const IndexedAccess& access);

/// The target's shape allows no index at all, or there is nothing to do. Throws UsageError for the first.
bool nothing_to_walk(const IndexedAccess& access);

}  // namespace xpu::kernels
