// Device memory from functions of the user's: torch.xpu.memory.XPUPluggableAllocator.
#pragma once

#include <cstddef>

#include "bridge/api.h"

namespace torch_xpu {

struct CustomAllocator {
  void* (*allocate)(std::size_t bytes, int device, void* queue) = nullptr;
  void (*free)(void* ptr, std::size_t bytes, int device, void* queue) = nullptr;
};

/// For the whole process; throws when memory was asked for before, as nothing could say whose a block is.
TORCH_XPU_PUBLIC void change_allocator(CustomAllocator to);
/// For what this thread allocates on the device until leave_allocator(); these nest.
TORCH_XPU_PUBLIC void use_allocator(CustomAllocator from_now_on, int device);
TORCH_XPU_PUBLIC void leave_allocator();

/// Memory from the functions that serve the thread on the device; false when the pool does.
bool allocate_custom(void** ptr, std::size_t bytes, int device);
/// False when the memory came from the pool.
bool free_custom(void* ptr) noexcept;

}  // namespace torch_xpu
