// Events: points in a stream's work, to wait for or to time.
#pragma once

#include <chrono>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

class Capture;

/// Completes when the work that was pending on a stream at record() has completed. Costs nothing until it is
/// recorded. const functions may be called from several threads; record() must not run beside any other.
class XPU_API Event {
 public:
  explicit Event(bool timing = false);
  /// Never blocks. Work that waits for the event is not affected.
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Never blocks. Recording again moves the event.
  void record(Stream stream);
  bool recorded() const;
  bool timing() const;
  /// The device of the stream it was recorded on; -1 before that.
  int device() const;
  /// The stream it was recorded on; empty before that.
  Stream stream() const;
  /// True if the event has completed or was never recorded. Never blocks, and does not throw for failed work.
  bool query() const;
  /// Blocks until the event has completed. Throws DeviceError or KernelFault for work that failed.
  void synchronize() const;
  /// Blocks for at most about `timeout`; returns true if the event has completed. The event must be recorded.
  bool wait_for(std::chrono::milliseconds timeout) const;
  /// Milliseconds on the device from this event to `end`. Throws UsageError unless both have timing, are of
  /// one device and have completed.
  double elapsed_ms(const Event& end) const;
  /// Null until recorded. Valid until the event is recorded again or destroyed.
  sycl::event* native() const;
  /// The capture in which the event was recorded, if it is still running; otherwise null.
  std::shared_ptr<Capture> capture() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xpu
