// Sizes of elements and arrays as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "xpu/tensor.h"

namespace xla_xpu {

/// Bytes of one element of a PJRT_Buffer_Type; types below a byte take one each, a token takes none. Throws
/// for a number that is no type.
std::size_t element_bytes(int type);
/// Bits of one element that takes a part of its byte; 0 for all other types. Negative for those with a sign.
int part_of_byte(int type);
/// Makes whole bytes of such elements: hosts leave the other bits as they like, and kernels read them.
void fill_bytes(void* data, std::size_t count, int bits);
/// Bytes of a dense array. Throws for more than there can be.
std::size_t array_bytes(int type, std::span<const std::int64_t> dims);
/// Byte strides of a dense array, the last dimension fastest.
std::vector<std::int64_t> row_major_strides(std::size_t item, std::span<const std::int64_t> dims);
/// The runtime's dtype with elements of that many bytes, for moving them unseen.
xpu::DType carrier(std::size_t item);

}  // namespace xla_xpu
