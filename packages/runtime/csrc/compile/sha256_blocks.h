// The compression function of SHA-256. A block has 64 bytes, a state eight words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/abi.h"

namespace xpu {

XPU_API void add_blocks_portably(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks);
/// True if this CPU has x86's instructions for SHA-256. They need no support of the operating system.
XPU_API bool has_sha256_instructions();
/// The same as add_blocks_portably(), more than ten times as fast. Only for CPUs that have the instructions.
XPU_API void add_blocks_by_instructions(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks);

}  // namespace xpu
