// Kernel binaries kept between processes.
//
// The cache is trusted: whoever can write it can run code as the user, so a folder that others may write is
// not used. A file is magic, SHA-256 and payload; written beside its place and renamed, so that readers never
// see half of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

using Bytes = std::vector<std::uint8_t>;

/// The payload kept under `key` ("<sha256>.spv" or "<sha256>.bin"), from the user's cache or from what ships
/// with the wheel. A damaged or foreign file is a miss and one warning.
std::optional<Bytes> cache_read(const std::string& key);
/// Keeps it, least recently used files making room. A full disk or read-only folder is one warning, not an
/// error.
void cache_write(const std::string& key, const Bytes& payload);

}  // namespace xpu
