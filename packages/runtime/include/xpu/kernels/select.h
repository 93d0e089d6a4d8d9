// Elements chosen by a mask: where they are, bringing them together, and putting values in their places.
#pragma once

#include <cstdint>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The elements of `mask`, of any dtype, that are not zero, in row-major order. Construction queues the
/// counting; the rest is queued behind it on the same stream. The mask must not change before the last call's
/// work has run.
class XPU_API Selection {
 public:
  Selection(Stream stream, const Tensor& mask);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  /// Waits for the device. Never more than the mask has elements.
  std::int64_t count() const;
  /// out[r] = the indices of element r. `out` is i64 or i32 [rows, dimensions of the mask], of any strides.
  /// Elements past its rows are left out and rows past the elements are left alone, so nobody need know the
  /// count.
  void positions(const Tensor& out) const;
  /// out[r] = x at element r. `x` broadcasts to the mask; `out` has one dimension, and its size is treated
  /// likewise.
  void gather(const Tensor& out, const Tensor& x) const;
  /// out at element r = source[r], in row-major order. `out` has the mask's shape. A source of fewer elements
  /// than are chosen is a KernelFault at the next wait; the elements without a value are left alone.
  void scatter(const Tensor& out, const Tensor& source) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace xpu::kernels
