// Traces: records of launches, copies, oneDNN calls, allocations and compiles of all frameworks. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/enqueue.h"

namespace xpu::trace {

struct Record {
  enum class Kind { kernel, copy, fill, dnn, graph, marker, allocate, free, compile, span } kind;
  std::string name;
  int device = 0;
  std::int64_t stream = 0;
  std::uint64_t correlation = 0;  ///< equal on the host's and the device's side of one submission
  std::uint64_t thread = 0;
  std::uint64_t host_begin = 0, host_end = 0;      ///< ns of the steady clock
  std::uint64_t device_begin = 0, device_end = 0;  ///< ns of the same clock; 0 if it did not run on a device
  std::uint64_t bytes = 0, counter = 0;            ///< counter: bytes allocated on the device afterwards
};

/// Starts recording. Does not wait for pending work, which is not recorded. Throws UsageError if a trace is
/// active.
XPU_API void start();
XPU_API bool active();
/// Stops recording, blocks for the recorded work, and returns all records since start(), ordered by host
/// time. Throws UsageError if no trace is active.
XPU_API std::vector<Record> stop();
/// A named span of host time, for phases of frameworks and users. Costs nothing if no trace is active.
class XPU_API Span {
 public:
  explicit Span(std::string_view name);
  ~Span();

 private:
  std::string name_;
  std::uint64_t begin_ = 0;
};
/// Nanoseconds of the steady clock that all times are of.
XPU_API std::uint64_t now();

}  // namespace xpu::trace
