// A stream is an in-order queue of one device. Streams live as long as the process.
#pragma once

#include <cstdint>

#include "xpu/abi.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

class Event;
struct StreamState;

/// A handle, cheap to copy and compare. The default stream of a device is the one every framework starts on,
/// so that work of two frameworks on one device is ordered without a wait.
class XPU_API Stream {
 public:
  Stream() = default;
  explicit Stream(StreamState* state) : state_(state) {}

  int device() const;
  /// 0 for a device's default stream; unique within the device.
  std::int64_t id() const;
  /// -1 high, 0 normal, 1 low.
  int priority() const;
  /// True when everything queued so far has ended. Does not throw for failed work: synchronize does.
  bool query() const;
  /// Waits; throws DeviceError or KernelFault for work that failed.
  void synchronize() const;
  /// Work queued from now on waits, on the device, for the event.
  void wait(const Event& event) const;
  /// Work queued from now on waits, on the device, for what `other` holds now.
  void wait(Stream other) const;
  /// The queue below. The address is stable; submit through xpu::enqueue so that traces and checks see the
  /// work.
  sycl::queue& queue() const;

  StreamState* state() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const Stream&) const = default;

 private:
  StreamState* state_ = nullptr;
};

XPU_API Stream default_stream(int device);
XPU_API Stream current_stream(int device);
/// Makes `stream` the calling thread's current one on its device; returns the one before.
XPU_API Stream exchange_stream(Stream stream);
/// The next stream, round robin, of the device's pool for that priority.
XPU_API Stream stream_from_pool(int device, int priority = 0);
/// The stream with this id; throws UsageError when there is none.
XPU_API Stream stream_of_id(int device, std::int64_t id);
/// Wraps a queue somebody else owns, which must be in order and outlive its use. The same queue gives the
/// same stream.
XPU_API Stream external_stream(sycl::queue& queue);

}  // namespace xpu
