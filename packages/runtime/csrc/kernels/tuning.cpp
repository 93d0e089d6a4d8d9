#include "kernels/tuning.h"

#include <algorithm>
#include <vector>

#include "kernels/work_division.h"
#include "xpu/device.h"

namespace xpu::kernels {
namespace {

Tuning tune(int device) {
  auto& info = device_info(device);
  int lanes = static_cast<int>(info.sub_group_size), units = static_cast<int>(info.max_compute_units);
  // The generic mode divides work as on a GPU, so that tests on the CPU device cover it.
  auto& division = info.is_gpu || generic_backend() ? gpu_division : cpu_division;
  // `parts` decides the order of sums. The cores that a process may use are a setting, which must not change
  // results; a GPU's compute units are a property of the device.
  int parts = info.is_gpu ? units * 16 : 512;
  auto group = static_cast<int>(std::min<std::size_t>(info.max_work_group_size, division.max_group_items));
  return {lanes,
          std::max(1, group / lanes),
          division.lane_bytes,
          division.wide_f16,
          division.min_tile_length,
          division.max_tile_length,
          units * division.tiles_per_unit,
          parts,
          static_cast<std::size_t>(division.streaming_bytes)};
}

}  // namespace

const Tuning& tuning(int device) {
  static const auto all = [] {
    std::vector<Tuning> list;
    for (int i = 0; i < device_count(); ++i) list.push_back(tune(i));
    return list;
  }();
  return all[static_cast<std::size_t>(device)];
}

}  // namespace xpu::kernels
