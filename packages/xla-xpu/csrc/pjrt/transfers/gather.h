// Copies strided host memory to contiguous host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xla_xpu {

// In both functions `item` is the size of an element in bytes (1, 2, 4, 8 or 16) and `strides` has the
// distance in bytes between neighbors along each of `dims`.

/// Returns true if an array with these strides is row-major without gaps.
bool is_contiguous(std::size_t item, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> strides);

/// Copies the array whose first element is at `src` to `dst`, row-major without gaps. Strides may be zero or
/// negative.
void gather(void* dst, const void* src, std::size_t item, std::span<const std::int64_t> dims,
            std::span<const std::int64_t> strides);

}  // namespace xla_xpu
