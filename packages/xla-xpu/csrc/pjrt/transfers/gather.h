// Strided host memory to dense host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xla_xpu {

/// True when elements of `item` bytes with these byte strides lie one after the other, the last dimension
/// fastest.
bool is_dense(std::size_t item, std::span<const std::int64_t> dims, std::span<const std::int64_t> strides);
/// Writes the elements of `src` to `dst` one after the other, the last dimension fastest. Strides are in
/// bytes and may be zero or negative.
void gather(void* dst, const void* src, std::size_t item, std::span<const std::int64_t> dims,
            std::span<const std::int64_t> strides);

}  // namespace xla_xpu
