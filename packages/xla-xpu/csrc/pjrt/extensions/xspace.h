// The runtime's trace in the format of JAX's profiler.
#pragma once

#include <string>
#include <vector>

#include "xpu/trace.h"

namespace xla_xpu {

/// A serialized tensorflow.profiler.XSpace: a plane for each device, a line for each of its streams.
std::string xspace_of(const std::vector<xpu::trace::Record>& records);

}  // namespace xla_xpu
