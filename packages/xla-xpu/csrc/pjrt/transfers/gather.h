// Copies strided host memory to contiguous host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xla_xpu {

/// Returns true if elements of `item` bytes with these byte strides are row-major without gaps.
bool is_contiguous(std::size_t item, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> strides);
/// Copies the elements of `src` to `dst`, row-major without gaps. Strides are in bytes and may be zero or
/// negative.
void gather(void* dst, const void* src, std::size_t item, std::span<const std::int64_t> dims,
            std::span<const std::int64_t> strides);

}  // namespace xla_xpu
