// PyTorch's allocators for the device and for pinned host memory, over the runtime's pools.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>

namespace torch_xpu {

c10::DeviceAllocator* device_allocator();
c10::Allocator* host_allocator();

}  // namespace torch_xpu
