// Elements selected by a mask: their positions, gather and scatter.
#pragma once

#include <cstdint>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The elements of `mask`, of any dtype, that are not zero, in row-major order. The
/// constructor enqueues the counting, and the other calls enqueue on the same stream. The mask must not
/// change before the work of the last call has completed.
class XPU_API Selection {
 public:
  Selection(Stream stream, const Tensor& mask);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  /// Blocks until the counting has completed; the others do not. At most the number of the mask's elements.
  std::int64_t count() const;
  /// out[r] = the indices of element r. `out` is i64 or i32 [rows, dimensions of the mask], of any strides.
  /// If `out` has fewer rows than elements were selected, the last elements are dropped; rows that are left
  /// over stay unchanged. So the caller need not know count().
  void positions(const Tensor& out) const;
  /// out[r] = x at element r. `x` broadcasts to the mask; `out` has one dimension, and its size need
  /// not be the count.
  void gather(const Tensor& out, const Tensor& x) const;
  /// out at element r = source[r], in row-major order. `out` has the mask's shape. If the source
  /// has too few elements, the next wait throws KernelFault, and elements without a value stay unchanged.
  void scatter(const Tensor& out, const Tensor& source) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace xpu::kernels
