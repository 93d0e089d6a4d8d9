// A point in a stream's work, to wait for or to time.
#pragma once

#include <chrono>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

class Capture;

/// Created lazily: costs nothing until recorded. Recording again moves it.
class XPU_API Event {
 public:
  explicit Event(bool timing = false);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  void record(Stream stream);
  bool recorded() const;
  bool timing() const;
  /// The device it was recorded on, -1 before that.
  int device() const;
  /// The stream it was recorded on; empty before that.
  Stream stream() const;
  /// True when the point has been reached, and for an event never recorded.
  bool query() const;
  void synchronize() const;
  /// Sleeps until the point is reached, or about so long; true when it is.
  bool wait_for(std::chrono::milliseconds most) const;
  /// Milliseconds on the device from this event to `end`; both must be timed, recorded and reached.
  double elapsed_ms(const Event& end) const;
  /// Null until recorded.
  sycl::event* native() const;
  /// The capture in which the event was recorded, if it is still running; otherwise null.
  std::shared_ptr<Capture> recording() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xpu
