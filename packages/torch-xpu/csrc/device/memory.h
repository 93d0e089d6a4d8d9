// PyTorch's allocations from the memory pool that all frameworks share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bridge/api.h"
#include "xpu/stream.h"

namespace torch_xpu {

/// Returns memory usable by work enqueued on `stream` from now on. If the pool has none, tries the pools of
/// set_use_on_oom() before it throws OutOfMemory.
void* allocate_block(std::size_t bytes, xpu::Stream stream);
/// Returns the block to its pool, which reuses it in stream order.
void deallocate_block(void* ptr) noexcept;

/// Chooses whether allocations of any thread that would otherwise fail may use the free memory of this
/// private pool.
TORCH_XPU_PUBLIC void set_use_on_oom(std::uint64_t pool, bool enabled);

}  // namespace torch_xpu
