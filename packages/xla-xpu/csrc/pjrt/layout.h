// Layouts as arguments describe them, as byte strides.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xla_xpu {

/// The byte strides of a dense array in this layout; null means the last dimension fastest. Throws for tiles.
std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout, std::size_t item,
                                     std::span<const std::int64_t> dims);
/// XLA's text for the layout every array of ours has: "{1,0}" for two dimensions.
std::string layout_text(std::size_t rank);

}  // namespace xla_xpu
