// How work is divided on a device: into tiles, each computed by one sub-group. The numbers of each kind of
// device, and the reasons for them, are in codegen/work_division.toml.
#pragma once

#include <cstdint>

#include "xpu/launch.h"

namespace xpu::kernels {

struct Tuning {
  int sub_group;                         ///< lanes
  int sub_groups;                        ///< in a work-group
  int lane_bytes;                        ///< that a lane should load at once
  bool wide_f16;                         ///< f16 too is loaded in vectors
  int min_tile_length, max_tile_length;  ///< in vectors
  int tiles;                             ///< enough to fill the device
  int parts;                             ///< max parts of one result; the order of its sums depends on it
  std::size_t streaming_bytes;           ///< output bytes from which kernels use streaming stores; 0: never
};

const Tuning& tuning(int device);

/// The number of vectors in a tile, for a problem of `vectors`.
inline std::int32_t tile_length(const Tuning& t, std::int64_t vectors) {
  std::int64_t length = (vectors + t.tiles - 1) / t.tiles;
  return static_cast<std::int32_t>(length < t.min_tile_length   ? t.min_tile_length
                                   : length > t.max_tile_length ? t.max_tile_length
                                                                : length);
}

/// True if results of so many bytes are written with streaming stores.
inline bool uses_streaming_stores(const Tuning& t, std::size_t bytes) {
  return t.streaming_bytes && bytes >= t.streaming_bytes;
}

/// The range in which each of `tiles` tiles has a sub-group.
inline NdRange tile_range(const Tuning& t, std::int64_t tiles) {
  auto groups = static_cast<std::size_t>((tiles + t.sub_groups - 1) / t.sub_groups);
  return NdRange::linear(groups, static_cast<std::size_t>(t.sub_groups * t.sub_group));
}

}  // namespace xpu::kernels
