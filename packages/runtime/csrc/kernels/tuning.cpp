#include "kernels/tuning.h"

#include <algorithm>
#include <vector>

#include "xpu/device.h"

namespace xpu::kernels {
namespace {

Tuning tune(int device) {
  auto& info = device_info(device);
  int lanes = static_cast<int>(info.sub_group_size), units = static_cast<int>(info.max_compute_units);
  // The generic mode uses the GPU's tile shape, so that tests on the CPU device cover it.
  bool gpu_shape = info.is_gpu || generic_backend();
  // `parts` decides the order of sums. The cores that a process may use are a setting, which must not change
  // results; a GPU's compute units are a property of the device.
  int parts = info.is_gpu ? units * 16 : 512;
  if (!gpu_shape) return {lanes, 1, 4, false, 32, 2048, units * 8, parts, 16 << 20};
  int group = static_cast<int>(std::min<std::size_t>(info.max_work_group_size, 256));
  return {lanes, std::max(1, group / lanes), 16, true, 1, 16, units * 16, parts, 0};
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
