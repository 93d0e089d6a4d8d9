#include "launch/work_groups.h"

#include <algorithm>
#include <limits>
#include <sycl/sycl.hpp>
#include <vector>

#include "process/env.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

using Limits = std::array<std::size_t, 3>;

Limits limits_of(int device) {
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  Limits limits{none, none, none};
  try {
    namespace query = sycl::ext::oneapi::experimental::info::device;
    auto device_limits = sycl_device(device).get_info<query::max_work_groups<3>>();
    for (int d = 0; d < 3; ++d) limits[d] = device_limits[d];
  } catch (const sycl::exception& e) {
    log(LogLevel::debug, join("device ", device, " does not say how many work-groups it takes: ", e.what()));
  }
  if (auto lowered = env::number("XPU_TEST_WORK_GROUPS", 0))
    for (int d = 0; d < 2; ++d) limits[d] = std::min<std::size_t>(limits[d], lowered);
  return limits;
}

}  // namespace

const Limits& max_work_groups(int device) {
  static auto& all = *[] {
    auto& list = immortal<std::vector<Limits>>();
    for (int i = 0; i < device_count(); ++i) list.push_back(limits_of(i));
    return &list;
  }();
  return all.at(static_cast<std::size_t>(device));
}

}  // namespace xpu
