#include "pjrt/layout.h"

#include "pjrt/element.h"
#include "pjrt/error.h"

namespace xla_xpu {

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
  std::vector<std::int64_t> strides(dims.size());
  auto stride = static_cast<std::int64_t>(item);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto axis = tiled.minor_to_major[i];
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

std::string layout_text(std::size_t rank) {
  std::string text = "{";
  for (std::size_t i = rank; i-- > 0;) text += std::to_string(i) + (i ? "," : "");
  return text + "}";
}

}  // namespace xla_xpu
