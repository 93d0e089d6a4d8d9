// Holds a CPU device's stream back while work is queued on it in bulk.
#pragma once

#include "xpu/stream.h"

namespace xpu {

/// A CPU device's driver wakes sleeping threads for every small piece of work, which takes the host longer
/// than the piece itself. What is queued behind a gate starts when the gate goes, and wakes them once.
/// Nothing may wait for the stream behind a closed gate: whoever must, opens `closed_gate()` first.
class Gate {
 public:
  /// Does nothing on other devices than an OpenCL CPU.
  explicit Gate(Stream stream);
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() noexcept;

 private:
  void* event_ = nullptr;  // a cl_event: the stream goes on when it is complete
};

/// The gate that this thread has closed, or null.
Gate* closed_gate();

}  // namespace xpu
