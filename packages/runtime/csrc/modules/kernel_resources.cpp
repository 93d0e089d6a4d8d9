// What the driver tells about a built kernel.
#include <algorithm>
#include <sycl/sycl.hpp>

#include "modules/module_table.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"
#include "xpu/module.h"

namespace xpu {
namespace {

namespace query = sycl::info::kernel_device_specific;
namespace intel = sycl::ext::intel::info::kernel_device_specific;
namespace queue_query = sycl::ext::oneapi::experimental::info::kernel_queue_specific;

// Few drivers answer each question; the others throw.
template <class Ask>
auto if_told(const KernelState& kernel, const char* what, Ask ask) -> std::optional<decltype(ask())> {
  try {
    return ask();
  } catch (const sycl::exception& e) {
    log(LogLevel::debug, join(kernel.name, ": the driver does not tell ", what, ": ", e.what()));
    return {};
  }
}

template <class Query>
std::optional<std::uint64_t> number(const KernelState& kernel, const char* what) {
  return if_told(kernel, what, [&]() -> std::uint64_t {
    return kernel.kernel.get_info<Query>(sycl_device(kernel.device));
  });
}

}  // namespace

KernelResources Kernel::resources() const {
  auto& kernel = *state_;
  return {
      .registers = number<query::ext_codeplay_num_regs>(kernel, "its registers"),
      .spill_bytes = number<intel::spill_memory_size>(kernel, "its spills"),
      .private_bytes = number<query::private_mem_size>(kernel, "its private memory"),
      .local_bytes = kernel.local_bytes,
      .sub_group_size = static_cast<std::uint32_t>(
          number<query::compile_sub_group_size>(kernel, "its sub-group size").value_or(0)),
      .max_work_group_size = kernel.max_work_group_size,
  };
}

std::optional<double> Kernel::occupancy(std::size_t work_group_size) const {
  auto& kernel = *state_;
  auto& info = device_info(kernel.device);
  auto sub_group_size = resources().sub_group_size;
  double threads = double(info.eu_count) * info.hw_threads_per_eu;
  if (!sub_group_size || threads == 0) return {};
  auto groups = if_told(kernel, "its occupancy", [&] {
    return kernel.kernel.ext_oneapi_get_info<queue_query::max_num_work_groups>(
        make_queue(kernel.device, 0, false), sycl::range<1>(work_group_size), 0);
  });
  if (!groups) return {};
  auto used = double(*groups) * double((work_group_size + sub_group_size - 1) / sub_group_size);
  return std::min(used / threads, 1.0);
}

}  // namespace xpu
