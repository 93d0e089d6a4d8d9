// Sorts the rows of contiguous arrays: the common ground of sorts and selections.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/kernel_table.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// As in device/xpu/sort_key.h.
enum class SortOrder : std::uint8_t { numbers, values, total };

/// `count` rows of `n` elements, one after another; outputs have `keep` elements a row and may be null.
struct RowSort {
  Stream stream;
  const char* name;
  DType dtype;
  SortOrder order;
  bool descending;
  std::int64_t count, n, keep;
  const void* in;
  const std::uint32_t* origin;  ///< the positions that elements are known by; null: where they are
  void* values;
  void* indices;
  DType index_dtype;

  /// True if positions are sorted along with the keys.
  bool places() const { return indices || order == SortOrder::numbers; }
  /// Keys are turned round for a descending order.
  std::uint64_t flip() const { return descending ? ~std::uint64_t{0} : 0; }
  std::size_t size() const { return static_cast<std::size_t>(count * n); }
};

/// How the device sorts: `lanes` of a group, 1 where an item should work by itself; elements of a lane.
struct SortShape {
  int lanes, items;
  std::int64_t capacity;  ///< the longest row that fits into a group's memory
};
SortShape sort_shape(int device, std::size_t element_bytes);

/// The first elements of each row, in order.
void sort_rows(const RowSort& sort);
/// Rows of at most the shape's capacity.
void sort_short_rows(const RowSort& sort, const SortShape& shape);
/// Rows of any length; all is kept.
void sort_long_rows(const RowSort& sort, const SortShape& shape);

/// The text that device/xpu/sort_source.h needs, and the bits of a kernel's key for it.
std::string sort_prelude(const RowSort& sort);
KernelKey sort_key(const RowSort& sort, int variant);

}  // namespace xpu::kernels
