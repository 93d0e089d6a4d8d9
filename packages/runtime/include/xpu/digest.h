// SHA-256 of files, to check what was copied from elsewhere.
#pragma once

#include <optional>
#include <string>

#include "xpu/abi.h"

namespace xpu {

/// Returns the 64 hexadecimal digits of the file's SHA-256; nullopt if it cannot be read.
XPU_API std::optional<std::string> digest_of_file(const std::string& path);

}  // namespace xpu
