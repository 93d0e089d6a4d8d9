// The runtime's trace as torch.profiler wants it.
#pragma once

#include <vector>

#include "bridge/profiler.h"

namespace torch_xpu {

/// Stops the trace; what is no work of a device is left out.
std::vector<TracedWork> traced_work();

}  // namespace torch_xpu
