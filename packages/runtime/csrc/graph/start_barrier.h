// Delays a CPU stream during a batch, so that the driver wakes its workers once, not once a kernel.
#pragma once

#include "xpu/stream.h"

namespace xpu {

/// A CPU device's driver wakes sleeping threads for every small submission, which takes the host longer than
/// the work itself. Work enqueued while a barrier is held starts when it is released.
/// Waiting for the stream while the barrier is held deadlocks; release `current_start_barrier()` first.
/// For one thread: barriers do not nest, an inner one does nothing.
class StartBarrier {
 public:
  /// Does nothing on other devices than an OpenCL CPU.
  explicit StartBarrier(Stream stream);
  ~StartBarrier() { release(); }
  StartBarrier(const StartBarrier&) = delete;
  StartBarrier& operator=(const StartBarrier&) = delete;
  void release() noexcept;

 private:
  void* event_ = nullptr;  // a cl_event: the stream continues when it is complete
};

/// The barrier that the calling thread holds, or null.
StartBarrier* current_start_barrier();

}  // namespace xpu
