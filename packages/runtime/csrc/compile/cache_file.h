// One file of the cache on disk: magic, SHA-256 and payload, in a file of the user's own.
#pragma once

#include <optional>
#include <string>

#include "xpu/cache.h"

namespace xpu {

struct CacheFile {
  std::optional<Bytes> payload;
  std::string fault;  ///< what is wrong with a file that is there; nothing when there is none
};

/// Of any owner's where the folder is not the user's: what came with the wheel.
CacheFile read_cache_file(const std::string& path, bool own);

/// Written beside its place and renamed, so that a reader never sees half of one; returns an error number, or
/// 0.
int write_cache_file(const std::string& path, const Bytes& payload);

/// What write_cache_file leaves when its process is killed ends so.
constexpr const char* unfinished = ".part";

}  // namespace xpu
