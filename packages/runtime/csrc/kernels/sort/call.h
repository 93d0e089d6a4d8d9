// A sort or selection along any dimension of any strides, seen as one over the rows of contiguous arrays.
#pragma once

#include <limits>

#include "kernels/contiguous.h"
#include "kernels/sort/rows.h"

namespace xpu::kernels {

/// The arrays of a call, checked, with the dimension in question made the last one.
struct SortArrays {
  const char* name;
  Tensor values, indices, in;  ///< an output that is not wanted: as Tensor() makes it
  std::int64_t count, n, keep;
};

constexpr std::int64_t whole_row = std::numeric_limits<std::int64_t>::min();

/// Dimension `dim` of the outputs must have `keep` elements.
SortArrays sort_arrays(const char* name, const Tensor& values, const Tensor& indices, const Tensor& in,
                       int dim, std::int64_t keep = whole_row);

class SortCall {
 public:
  SortCall(Stream stream, const SortArrays& arrays, bool descending, bool total_order);
  const RowSort& rows() const { return rows_; }
  /// Copies the results to where they are wanted.
  void finish();

 private:
  ContiguousInput in_;
  ContiguousOutput values_, indices_;
  ScratchBuffer copy_;
  RowSort rows_;
};

}  // namespace xpu::kernels
