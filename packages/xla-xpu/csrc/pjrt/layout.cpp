#include "pjrt/layout.h"

#include <algorithm>
#include <numeric>

#include "pjrt/element.h"
#include "pjrt/error.h"
#include "pjrt/transfers/gather.h"

namespace xla_xpu {
namespace {

MinorToMajor row_major_order(std::size_t rank) {
  MinorToMajor order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

}  // namespace

std::vector<std::int64_t> strides_of(const MinorToMajor& order, std::size_t item,
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

std::vector<std::int64_t> slowest_first(const MinorToMajor& order, std::span<const std::int64_t> numbers) {
  if (order.empty()) return {numbers.begin(), numbers.end()};
  std::vector<std::int64_t> ordered;
  for (std::size_t i = order.size(); i-- > 0;) ordered.push_back(numbers[order[i]]);
  return ordered;
}

MinorToMajor order_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                      std::span<const std::int64_t> dims) {
  if (!layout) return {};
  auto strides = strides_of(layout, item, dims);
  auto order = row_major_order(dims.size());
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    order.assign(layout->tiled.minor_to_major, layout->tiled.minor_to_major + dims.size());
  } else if (std::find(dims.begin(), dims.end(), 0) == dims.end()) {
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] < strides[b]; });
    if (!is_contiguous(item, slowest_first(order, dims), slowest_first(order, strides)))
      fail_with_code(PJRT_Error_Code_UNIMPLEMENTED,
                     "the layout has gaps between elements; xpu supports only arrays without gaps");
  }
  return order == row_major_order(dims.size()) ? MinorToMajor() : order;
}

std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                                     std::span<const std::int64_t> dims) {
  if (!layout) return row_major_strides(item, dims);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    const auto& given = layout->strides;
    if (given.num_byte_strides != dims.size())
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "a layout has ", given.num_byte_strides,
                     " strides for an array of ", dims.size(), " dimensions");
    return {given.byte_strides, given.byte_strides + dims.size()};
  }
  const auto& tiled = layout->tiled;
  if (tiled.num_tiles)
    fail_with_code(PJRT_Error_Code_UNIMPLEMENTED, "the layout is tiled; xpu has no tiled layouts");
  if (tiled.minor_to_major_size != dims.size())
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "a layout orders ", tiled.minor_to_major_size,
                   " dimensions of an array that has ", dims.size());
  MinorToMajor order(tiled.minor_to_major, tiled.minor_to_major + dims.size());
  if (!std::is_permutation(order.begin(), order.end(), row_major_order(dims.size()).begin()))
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "a layout does not name each of ", dims.size(),
                   " dimensions once");
  return strides_of(order, item, dims);
}

std::string layout_text(const MinorToMajor& order, std::size_t rank) {
  std::string text;
  for (auto axis : order.empty() ? row_major_order(rank) : order)
    text += (text.empty() ? "" : ",") + std::to_string(axis);
  return "{" + text + "}";
}

}  // namespace xla_xpu
