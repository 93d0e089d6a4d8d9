// Pinned host memory: what copies to and from a device may read and write without staging.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/abi.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace xpu::host_memory {

/// Pinned memory for the devices of the process, from a caching pool of its own. Zero bytes give null.
XPU_API void* allocate(std::size_t bytes);
/// Reused once every recorded stream has passed. Null is fine.
XPU_API void deallocate(void* ptr) noexcept;
/// Says that work on `stream` uses the block.
XPU_API void record_stream(void* ptr, Stream stream);
/// True for any address inside a block of this pool or of another pinned allocation of the context.
XPU_API bool is_pinned(const void* ptr);
XPU_API std::size_t empty_cache();

struct Stats {
  memory::Stat allocations, allocated_bytes, reserved_bytes, active_bytes;
  std::int64_t num_host_alloc = 0, num_host_free = 0;
};
XPU_API Stats stats();
XPU_API void reset_peak_stats();
XPU_API void reset_accumulated_stats();

}  // namespace xpu::host_memory
