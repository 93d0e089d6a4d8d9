// The sub-group of kernels that keep many numbers of each lane.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compile/build_input.h"
#include "xpu/device.h"

namespace xpu::dnn {

/// Returns a sub-group size with which a lane's number is one in a register of a CPU's vectors: with more
/// lanes a number takes several of the few registers.
inline std::int64_t register_lanes(int device) {
  auto& info = device_info(device);
  auto floats = static_cast<std::uint32_t>(cpu_vector_bytes(device)) / 4;
  bool offered = std::ranges::find(info.sub_group_sizes, floats) != info.sub_group_sizes.end();
  return offered ? floats : info.sub_group_size;
}

}  // namespace xpu::dnn
