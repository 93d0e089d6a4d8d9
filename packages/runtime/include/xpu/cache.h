// What is built is kept between processes: kernels, and what adapters made of programs.
//
// The cache is trusted: whoever can write it can run code as the user, so a folder that others may write is
// not used. A file is magic, SHA-256 and payload; written beside its place and renamed, so that readers never
// see half of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

using Bytes = std::vector<std::uint8_t>;

/// The payload kept under `key` ("<sha256>.spv", ".bin" or ".plan"), from the user's cache or from what ships
/// with the wheel. A damaged or foreign file is a miss and one warning.
XPU_API std::optional<Bytes> cache_read(const std::string& key);
/// Keeps it, least recently used files making room. A full disk or read-only folder is one warning, not an
/// error. Returns false if it is not kept.
XPU_API bool cache_write(const std::string& key, const Bytes& payload);

/// The user's folder; empty when caching to disk is off or the folder cannot be trusted.
XPU_API const std::string& cache_folder();
/// The folder of SPIR-V that ships with the wheel.
XPU_API std::string prebuilt_folder();
/// Changes when the kernel compiler does; part of every key.
XPU_API const std::string& compiler_id();

}  // namespace xpu
