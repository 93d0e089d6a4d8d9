// Limits on the number of work-groups in a launch.
#pragma once

#include <array>
#include <cstddef>

namespace xpu {

/// Limits by dimension in the order of NdRange, so the last one applies to launches of one dimension.
/// XPU_TEST_WORK_GROUPS lowers the first two. Thread-safe; the device is asked once.
const std::array<std::size_t, 3>& max_work_groups(int device);

}  // namespace xpu
