// PyTorch's allocations from the memory pool that all frameworks share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/stream.h"

namespace torch_xpu {

void* allocate_block(std::size_t bytes, xpu::Stream stream);
void deallocate_block(void* ptr) noexcept;

/// Allows or forbids every allocation to use the private pool's free memory when the device has no other.
void set_use_on_oom(std::uint64_t pool, bool enabled);

}  // namespace torch_xpu
