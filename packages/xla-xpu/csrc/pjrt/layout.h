// Layouts: the order of a contiguous array's dimensions in memory.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xla_xpu {

/// Dimensions from the fastest to the slowest one; empty if the last is fastest, as in most arrays.
using MinorToMajor = std::vector<std::int64_t>;

/// Byte strides of a contiguous array in this layout; null means the last dimension fastest. Throws
/// PjrtFailure for tiles.
std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                                     std::span<const std::int64_t> dims);
std::vector<std::int64_t> strides_of(const MinorToMajor& order, std::size_t item,
                                     std::span<const std::int64_t> dims);
/// The order that a layout describes; null means row-major. Throws PjrtFailure for tiles and for strides with
/// gaps.
MinorToMajor order_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                      std::span<const std::int64_t> dims);
/// Sorts one number per dimension from the slowest dimension to the fastest.
std::vector<std::int64_t> slowest_first(const MinorToMajor& order, std::span<const std::int64_t> numbers);
/// XLA's text of a layout: "{1,0}" for two dimensions in row-major order.
std::string layout_text(const MinorToMajor& order, std::size_t rank);

}  // namespace xla_xpu
