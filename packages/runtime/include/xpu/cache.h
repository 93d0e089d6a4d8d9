// Disk cache of built kernels and of what adapters store, shared by all processes of the user.
//
// The cache is trusted: a user who can write it can run code as its owner, so a folder that others may write
// is not used. A file is magic, SHA-256 and payload. It is written under a temporary name and renamed, so
// readers never see an incomplete one. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

using Bytes = std::vector<std::uint8_t>;

/// Returns the payload stored under `key` ("<sha256>.spv", ".bin" or ".KIND.entry"), from the user's
/// cache. A damaged or foreign file is a miss and one warning.
XPU_API std::optional<Bytes> cache_read(const std::string& key);
/// Stores the payload, and evicts the least recently used files if the cache is full. A full disk or
/// read-only folder is one warning, not an error. Returns false if it was not stored.
XPU_API bool cache_write(const std::string& key, const Bytes& payload);

/// What a place where builds look for kernels answers.
struct StoreAnswer {
  std::string wanted;  ///< "SPIR-V", or what it becomes
  std::string store;
  bool found;
  std::string answer;  ///< for people
};

/// The user's folder; empty if caching to disk is off or the folder cannot be trusted.
XPU_API const std::string& cache_folder();
/// Identifies the version of the kernel compiler; part of every key.
XPU_API const std::string& compiler_id();

}  // namespace xpu
