// Eviction: keeps the cache folder below its size limit.
#pragma once

#include <cstdint>
#include <string>

namespace xpu {

/// Deletes the least recently used cache files until they take at most nine tenths of `limit` bytes, if they
/// take more than `limit`, and temporary files of writers that were killed. Deletes only regular files of the
/// user's own that have the name and the header of a cache file, and nothing in a folder that others may
/// write. Does not throw; other processes may evict at the same time.
void evict_cache_files(const std::string& folder, std::uint64_t limit);

}  // namespace xpu
