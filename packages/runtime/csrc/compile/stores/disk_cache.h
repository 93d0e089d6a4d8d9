// What the runtime itself asks of the disk cache, beside xpu/cache.h.
#pragma once

#include <cstdint>

#include "xpu/abi.h"

namespace xpu {

/// Returns the size limit of the cache in bytes (XPU_CACHE_SIZE).
XPU_API std::uint64_t cache_limit();
/// Deletes the least recently used files if all take more than the limit, until they take nine tenths of it.
XPU_API void evict_cache();

/// True if a file tells that a driver has built a kernel.
bool has_stored_programs();

/// False if the cache is off or read-only, or its last file could not be written: then nothing is worth being
/// built ahead. Thread-safe.
bool is_cache_writable();

}  // namespace xpu
