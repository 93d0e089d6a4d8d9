// Layouts: the order in which a dense array has its dimensions in memory.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xla_xpu {

/// An array's dimensions from the fastest to the slowest one; empty when the last is fastest, as in most
/// arrays.
using Order = std::vector<std::int64_t>;

/// The byte strides of a dense array in this layout; null means the last dimension fastest. Throws for tiles.
std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                                     std::span<const std::int64_t> dims);
std::vector<std::int64_t> strides_of(const Order& order, std::size_t item,
                                     std::span<const std::int64_t> dims);
/// The order that a layout asks for; null means the usual one. Throws for tiles, and for strides with gaps.
Order order_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item, std::span<const std::int64_t> dims);
/// Numbers by dimension, from the slowest to the fastest one.
std::vector<std::int64_t> in_order(const Order& order, std::span<const std::int64_t> numbers);
/// XLA's text for a layout: "{1,0}" for two dimensions in the usual order.
std::string layout_text(const Order& order, std::size_t rank);

}  // namespace xla_xpu
