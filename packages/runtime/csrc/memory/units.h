// Bytes for people.
#pragma once

#include <cstdint>
#include <string>

namespace xpu::memory {

/// "1.50 GiB (1610612736 bytes)".
std::string human(std::uint64_t bytes);

}  // namespace xpu::memory
