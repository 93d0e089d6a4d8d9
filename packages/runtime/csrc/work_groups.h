// How many work-groups a device takes in one launch.
#pragma once

#include <array>
#include <cstddef>

namespace xpu {

/// Limits of the dimensions in the order of NdRange, so the last one is that of a launch of one dimension.
/// XPU_TEST_WORK_GROUPS lowers the first two. Thread-safe; the device is asked once.
const std::array<std::size_t, 3>& max_work_groups(int device);

}  // namespace xpu
