// One record of everything that happened: launches, copies, oneDNN calls, allocations, compiles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/launch.h"

namespace xpu::trace {

struct Record {
  enum class Kind { kernel, copy, fill, dnn, graph, marker, allocate, free, compile, span } kind;
  std::string name;
  int device = 0;
  std::int64_t stream = 0;
  std::uint64_t correlation = 0;  ///< the same on the host's and the device's side of one piece of work
  std::uint64_t thread = 0;
  std::uint64_t host_begin = 0, host_end = 0;      ///< ns of the steady clock
  std::uint64_t device_begin = 0, device_end = 0;  ///< ns on the same axis; 0 when it did not run on a device
  std::uint64_t bytes = 0, counter = 0;            ///< counter: bytes allocated on the device after the event
};

/// Starts recording. Waits for no work: what is pending runs before what is recorded.
XPU_API void start();
XPU_API bool active();
/// Stops, waits for the work that was recorded, and returns all records since start, ordered by host time.
XPU_API std::vector<Record> stop();
/// A host span with a name, for frameworks and users to mark phases; free when no trace is active.
class XPU_API Span {
 public:
  explicit Span(std::string_view name);
  ~Span();

 private:
  std::string name_;
  std::uint64_t begin_ = 0;
};
/// The steady clock all times are on.
XPU_API std::uint64_t now();

}  // namespace xpu::trace
