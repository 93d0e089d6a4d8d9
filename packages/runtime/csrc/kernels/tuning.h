// How a device likes its work cut: into tiles that one sub-group walks.
//
// On the CPU device a work-group is a task of a core and a sub-group its vector, so a group is one sub-group
// with a long tile, contiguous in memory; a lane is 4 bytes of the vector. A GPU wants many sub-groups in
// flight and 16 bytes a lane.
#pragma once

#include <cstdint>

#include "xpu/module.h"

namespace xpu::kernels {

struct Tuning {
  int sub_group;            ///< lanes
  int sub_groups;           ///< in a work-group
  int lane_bytes;           ///< what a lane should load at once
  bool wide_f16;            ///< for f16 too; CPU compilers take pairs of them apart one by one
  int shortest, longest;    ///< vectors in a tile
  int tiles;                ///< enough to fill the device
  int parts;                ///< that one result is split into at most; the order of its sums depends on it
  std::size_t past_caches;  ///< bytes of results that are not found in a cache again; 0: no number of them
};

const Tuning& tuning(int device);

/// Vectors a tile of a problem of `vectors` should have.
inline std::int32_t tile_length(const Tuning& t, std::int64_t vectors) {
  std::int64_t length = (vectors + t.tiles - 1) / t.tiles;
  return static_cast<std::int32_t>(length < t.shortest  ? t.shortest
                                   : length > t.longest ? t.longest
                                                        : length);
}

/// Whether results of so many bytes are stored past the caches.
inline bool past_caches(const Tuning& t, std::size_t bytes) {
  return t.past_caches && bytes >= t.past_caches;
}

/// The range that gives each of `tiles` tiles a sub-group.
inline NdRange tile_range(const Tuning& t, std::int64_t tiles) {
  auto groups = static_cast<std::size_t>((tiles + t.sub_groups - 1) / t.sub_groups);
  return NdRange::linear(groups, static_cast<std::size_t>(t.sub_groups * t.sub_group));
}

}  // namespace xpu::kernels
