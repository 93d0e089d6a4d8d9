#include "pjrt/layout.h"

#include <algorithm>
#include <numeric>

#include "pjrt/element.h"
#include "pjrt/error.h"
#include "pjrt/transfers/gather.h"

namespace xla_xpu {
namespace {

Order usual(std::size_t rank) {
  Order order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

}  // namespace

std::vector<std::int64_t> strides_of(const Order& order, std::size_t item,
                                     std::span<const std::int64_t> dims) {
  if (order.empty()) return row_major_strides(item, dims);
  std::vector<std::int64_t> strides(dims.size());
  auto stride = static_cast<std::int64_t>(item);
  for (auto axis : order) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

std::vector<std::int64_t> in_order(const Order& order, std::span<const std::int64_t> numbers) {
  if (order.empty()) return {numbers.begin(), numbers.end()};
  std::vector<std::int64_t> ordered;
  for (std::size_t i = order.size(); i-- > 0;) ordered.push_back(numbers[order[i]]);
  return ordered;
}

Order order_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item, std::span<const std::int64_t> dims) {
  if (!layout) return {};
  auto strides = strides_of(layout, item, dims);
  auto order = usual(dims.size());
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    order.assign(layout->tiled.minor_to_major, layout->tiled.minor_to_major + dims.size());
  } else if (std::find(dims.begin(), dims.end(), 0) == dims.end()) {
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] < strides[b]; });
    if (!is_dense(item, in_order(order, dims), in_order(order, strides)))
      refuse(PJRT_Error_Code_UNIMPLEMENTED,
             "xpu keeps arrays without gaps; a layout with gaps was asked for");
  }
  return order == usual(dims.size()) ? Order() : order;
}

std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                                     std::span<const std::int64_t> dims) {
  if (!layout) return row_major_strides(item, dims);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    const auto& given = layout->strides;
    if (given.num_byte_strides != dims.size())
      refuse(PJRT_Error_Code_INVALID_ARGUMENT, "a layout has ", given.num_byte_strides,
             " strides for an array of ", dims.size(), " dimensions");
    return {given.byte_strides, given.byte_strides + dims.size()};
  }
  const auto& tiled = layout->tiled;
  if (tiled.num_tiles)
    refuse(PJRT_Error_Code_UNIMPLEMENTED, "xpu has no tiled layouts; arrays are dense and untiled");
  if (tiled.minor_to_major_size != dims.size())
    refuse(PJRT_Error_Code_INVALID_ARGUMENT, "a layout orders ", tiled.minor_to_major_size,
           " dimensions of an array that has ", dims.size());
  Order order(tiled.minor_to_major, tiled.minor_to_major + dims.size());
  if (!std::is_permutation(order.begin(), order.end(), usual(dims.size()).begin()))
    refuse(PJRT_Error_Code_INVALID_ARGUMENT, "a layout does not name each of ", dims.size(),
           " dimensions once");
  return strides_of(order, item, dims);
}

std::string layout_text(const Order& order, std::size_t rank) {
  std::string text;
  for (auto axis : order.empty() ? usual(rank) : order)
    text += (text.empty() ? "" : ",") + std::to_string(axis);
  return "{" + text + "}";
}

}  // namespace xla_xpu
