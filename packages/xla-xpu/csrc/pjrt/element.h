// Sizes and strides of elements and arrays in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace xla_xpu {

/// Bytes of one element of a PJRT_Buffer_Type: one for a type below a byte, none for a token. Throws
/// PjrtFailure for an unknown type.
std::size_t element_bytes(int type);
/// Bits of one element of a type below a byte, negative if it is signed; 0 for all other known types.
int sub_byte_bits(int type);
/// Extends elements of `bits` bits, as sub_byte_bits() returns, to whole bytes: hosts leave the other bits
/// undefined, and kernels read them.
void fill_bytes(void* data, std::size_t count, int bits);
/// Bytes of a contiguous array. Throws PjrtFailure for a negative size or an overflow.
std::size_t array_bytes(int type, std::span<const std::int64_t> dims);
/// Byte strides of a contiguous array, the last dimension fastest.
std::vector<std::int64_t> row_major_strides(std::size_t item, std::span<const std::int64_t> dims);

}  // namespace xla_xpu
