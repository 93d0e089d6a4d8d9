// Reports the device's work to torch.profiler.
#pragma once

#include <cstdint>
#include <string>

namespace torch_xpu {

/// A piece of work, with times in ns of the steady clock; device times are 0 for what left none.
struct TracedWork {
  enum class Kind { kernel, copy, fill } kind = Kind::kernel;
  std::string name;
  int device = 0;
  std::int64_t stream = 0;
  std::uint64_t thread = 0, correlation = 0, bytes = 0;
  std::int64_t host_begin = 0, host_end = 0, device_begin = 0, device_end = 0;
};

/// The runtime has just been loaded: a profile that has begun records it from now on.
void profile_loaded_runtime();

}  // namespace torch_xpu
