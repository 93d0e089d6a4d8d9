// Host signals: points in streams' work at which they wait for the host, for exchanges with other processes.
#pragma once

#include <exception>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

/// Set once, by any thread. All functions are thread-safe.
class XPU_API HostSignal {
 public:
  /// True if streams of the device can wait for the host without a blocked thread: those of OpenCL.
  static bool supported(int device);

  /// Throws Unsupported unless supported(device).
  explicit HostSignal(int device);
  /// Sets the signal: no stream waits for ever.
  ~HostSignal();
  HostSignal(const HostSignal&) = delete;
  HostSignal& operator=(const HostSignal&) = delete;

  /// Work enqueued on the stream from now on starts when the signal is set. Never blocks, and does nothing if
  /// the signal is set. The stream must be of the signal's device. Whoever sets the signal must not wait for
  /// the stream. Throws UsageError if a graph captures the stream.
  void block(Stream stream);
  /// Lets the streams continue.
  void set() noexcept;
  /// Lets the streams continue. The next wait for the device throws `failure`, if it has no earlier one.
  void fail(std::exception_ptr failure) noexcept;
  bool is_set() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xpu
