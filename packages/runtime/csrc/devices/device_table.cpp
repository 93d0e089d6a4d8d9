#include "devices/device_table.h"

#include <algorithm>
#include <cstdlib>

#include "compile/compilers/build_service.h"
#include "compile/stores/ready_image.h"
#include "process/env.h"
#include "process/immortal.h"
#include "process/shutdown.h"
#include "process/startup.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

constexpr int max_cpu_devices = 64;

std::string* failure = new std::string;

std::vector<sycl::device> all_devices() {
  try {
    std::vector<sycl::device> found;
    for (auto& platform : sycl::platform::get_platforms())
      for (auto& device : platform.get_devices()) found.push_back(device);
    return found;
  } catch (const sycl::exception& e) {
    *failure = e.what();
    return {};
  }
}

std::vector<sycl::device> pick(const std::vector<sycl::device>& from, auto&& wanted) {
  std::vector<sycl::device> chosen;
  std::copy_if(from.begin(), from.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

// Level Zero and OpenCL show the same GPU twice, so only the first backend that has one counts.
std::vector<sycl::device> gpus(const std::vector<sycl::device>& all) {
  auto of = [&](sycl::backend backend) {
    return pick(all, [&](auto& d) { return d.is_gpu() && d.get_backend() == backend; });
  };
  for (auto backend : {sycl::backend::ext_oneapi_level_zero, sycl::backend::opencl})
    if (auto found = of(backend); !found.empty()) return found;
  return pick(all, [](auto& d) { return d.is_gpu(); });
}

bool is_cpu_selected() {
  const char* selector = std::getenv("ONEAPI_DEVICE_SELECTOR");
  return (selector && std::string(selector).find("cpu") != std::string::npos) ||
         std::getenv("XPU_CPU_DEVICES");
}

std::vector<sycl::device> cpus(const std::vector<sycl::device>& all) {
  auto whole = pick(all, [](auto& d) { return d.is_cpu(); });
  if (whole.size() > 1) whole.resize(1);
  auto parts = env::number("XPU_CPU_DEVICES", 1);
  if (whole.empty() || parts == 1) return whole;
  auto units = whole[0].get_info<sycl::info::device::max_compute_units>();
  expect<UsageError>(parts >= 1 && parts <= max_cpu_devices, "XPU_CPU_DEVICES=", parts,
                     ": a CPU can be split into 1 to ", max_cpu_devices, " devices");
  // If there are more devices than cores, several share one.
  std::vector<sycl::device> split;
  while (split.size() < static_cast<std::size_t>(parts)) {
    auto more = whole[0].create_sub_devices<sycl::info::partition_property::partition_equally>(
        std::max<std::size_t>(1, units / parts));
    split.insert(split.end(), more.begin(), more.end());
  }
  split.erase(split.begin() + parts, split.end());
  return split;
}

std::vector<std::unique_ptr<DeviceEntry>> find() {
  startup::prepare();
  bool has_images = has_ready_images();
  // As early as possible, so that the helper finds its devices meanwhile.
  if (!has_images) build_service::prestart_if_cache_empty();
  auto all = all_devices();
  auto chosen = gpus(all);
  if (chosen.empty() || is_cpu_selected())
    for (auto& device : cpus(all)) chosen.push_back(device);
  std::vector<std::unique_ptr<DeviceEntry>> table;
  for (auto& device : chosen) {
    auto same = std::find_if(table.begin(), table.end(),
                             [&](auto& e) { return e->device.get_platform() == device.get_platform(); });
    auto peers = pick(chosen, [&](auto& d) { return d.get_platform() == device.get_platform(); });
    auto context = same != table.end() ? (*same)->context : sycl::context(peers);
    table.push_back(std::make_unique<DeviceEntry>(DeviceEntry{device, context, read_device_info(device)}));
  }
  if (has_images && !table.empty() && table[0]->info.is_gpu) build_service::prestart_if_cache_empty();
  if (!table.empty()) startup::mark_initialized();
  shutdown::reregister_exit_handler();  // the drivers are among them
  return table;
}

}  // namespace

const std::vector<std::unique_ptr<DeviceEntry>>& device_table() {
  static auto& table = immortal<std::vector<std::unique_ptr<DeviceEntry>>>(find());
  return table;
}

std::string no_device_reason() {
  std::string why = failure->empty() ? "" : " (the SYCL runtime says: " + *failure + ")";
  return "no SYCL device was found" + why +
         ". The CPU device comes with the wheel intel-opencl-rt; a GPU needs its driver. Run: xpu-sdk doctor";
}

}  // namespace xpu
