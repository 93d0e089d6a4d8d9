// Streams: in-order queues of one device. They are never destroyed. All functions are thread-safe.
#pragma once

#include <cstdint>

#include "xpu/abi.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

class Event;
struct StreamState;

/// Handle, cheap to copy and compare. Every framework starts on a device's default stream, so work of two
/// frameworks on one device is ordered without a wait.
class XPU_API Stream {
 public:
  Stream() = default;
  explicit Stream(StreamState* state) : state_(state) {}

  int device() const;
  /// 0 for a device's default stream; unique within the device.
  std::int64_t id() const;
  /// -1 high, 0 normal, 1 low.
  int priority() const;
  /// True if no work is pending. Never waits for it, and does not throw for failed work: synchronize() does.
  bool query() const;
  /// Blocks until the work pending now has completed. Throws DeviceError or KernelFault for work that failed,
  /// and UsageError if a graph captures the stream.
  void synchronize() const;
  /// Work enqueued from now on waits for the event, on the device where it can. An event that was never
  /// recorded is ignored.
  void wait(const Event& event) const;
  /// Work enqueued from now on waits for the work now pending on `other`.
  void wait(Stream other) const;
  /// The address of queue(), which identifies the stream in this process. Never 0.
  std::uintptr_t handle() const;
  /// The SYCL queue, at a stable address, which callers may submit to: the runtime keeps the order with their
  /// work. Submit through enqueue() where possible, so that traces and checks include the work.
  sycl::queue& queue() const;

  StreamState* state() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const Stream&) const = default;

 private:
  StreamState* state_ = nullptr;
};

XPU_API Stream default_stream(int device);
/// The calling thread's stream; the default stream until exchange_stream() sets another.
XPU_API Stream current_stream(int device);
/// Makes `stream` the calling thread's current stream on its device; returns the previous one.
XPU_API Stream exchange_stream(Stream stream);
/// The next stream, round robin, of the device's pool for that priority: -1 high, 0 normal, 1 low.
XPU_API Stream stream_from_pool(int device, int priority = 0);
/// A new stream that no pool hands to others, for work that waits for other threads. Never destroyed: reuse
/// it.
XPU_API Stream private_stream(int device);
/// The stream with this handle, without a lock. Throws UsageError if there is none.
XPU_API Stream stream_of_handle(int device, std::uintptr_t handle);
XPU_API Stream stream_of_handle(std::uintptr_t handle);
/// Wraps a caller's queue, which must be in order and in the runtime's context; throws UsageError otherwise.
/// The same queue gives the same stream.
XPU_API Stream external_stream(sycl::queue& queue);

}  // namespace xpu
