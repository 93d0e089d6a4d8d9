// Pinned host memory, which devices copy from and to without staging. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/abi.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace xpu::host_memory {

/// Memory from a caching pool, usable by every device of the process. Zero bytes give null. Throws
/// OutOfMemory.
XPU_API void* allocate(std::size_t bytes);
/// Returns the block to the pool. Does not wait: reuse does, for every stream passed to record_stream(). Null
/// is ignored.
XPU_API void deallocate(void* ptr) noexcept;
/// Says that work on `stream` uses the block, which is then reused only once that work has completed.
XPU_API void record_stream(void* ptr, Stream stream);
/// True for any address inside a block of this pool or another pinned allocation of the context.
XPU_API bool is_pinned(const void* ptr);
/// Gives unused blocks back to the system, after blocking for the work that used them; returns their bytes.
XPU_API std::size_t empty_cache();

struct Stats {
  memory::Stat allocations, allocated_bytes, reserved_bytes, active_bytes;
  std::int64_t num_host_alloc = 0, num_host_free = 0;
};
XPU_API Stats stats();
XPU_API void reset_peak_stats();
XPU_API void reset_accumulated_stats();

}  // namespace xpu::host_memory
