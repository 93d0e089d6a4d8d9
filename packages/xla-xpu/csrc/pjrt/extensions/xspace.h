// Converts the runtime's trace to the format of JAX's profiler.
#pragma once

#include <string>
#include <vector>

#include "xpu/trace.h"

namespace xla_xpu {

/// Returns a serialized tensorflow.profiler.XSpace with a plane per device and a line per stream.
std::string xspace_of(const std::vector<xpu::trace::Record>& records);

}  // namespace xla_xpu
