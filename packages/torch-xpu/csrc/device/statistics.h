// The runtime's memory statistics under PyTorch's names.
#pragma once

#include "bridge/runtime.h"
#include "xpu/host_memory.h"
#include "xpu/memory.h"

namespace torch_xpu {

c10::CachingDeviceAllocator::DeviceStats as_torch(const xpu::memory::Stats& stats);
HostStats as_torch(const xpu::host_memory::Stats& stats);

}  // namespace torch_xpu
