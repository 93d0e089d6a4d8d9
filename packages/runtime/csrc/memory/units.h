// Numbers of bytes in messages.
#pragma once

#include <cstdint>
#include <string>

namespace xpu::memory {

/// Returns text such as "1.50 GiB (1610612736 bytes)".
std::string format_bytes(std::uint64_t bytes);

}  // namespace xpu::memory
