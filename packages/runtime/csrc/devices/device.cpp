#include "xpu/device.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <sycl/sycl.hpp>

#include "devices/device_table.h"
#include "process/env.h"
#include "process/startup.h"
#include "streams/stream_state.h"
#include "xpu/error.h"
#include "xpu/interrupt.h"
#include "xpu/memory.h"

namespace xpu {
namespace {

thread_local int thread_device = 0;

const DeviceEntry& device_entry(int device) {
  startup::require_not_forked();
  auto& table = device_table();
  if (device < 0 || device >= static_cast<int>(table.size())) [[unlikely]] {
    if (table.empty()) fail<UsageError>("device ", device, " was asked for, but ", no_device_reason());
    fail<UsageError>("there is no device ", device, ": this process has ", table.size(), " (0 to ",
                     table.size() - 1,
                     "). ONEAPI_DEVICE_SELECTOR, ZE_AFFINITY_MASK and XPU_CPU_DEVICES choose which are seen");
  }
  return *table[device];
}

}  // namespace

int device_count() {
  return static_cast<int>(device_table().size());
}
const DeviceInfo& device_info(int device) {
  return device_entry(device).info;
}
const sycl::device& sycl_device(int device) {
  return device_entry(device).device;
}
const sycl::context& sycl_context(int device) {
  return device_entry(device).context;
}

MemoryInfo memory_info(int device) {
  auto& e = device_entry(device);
  if (e.info.free_memory)
    return {e.device.get_info<sycl::ext::intel::info::device::free_memory>(), e.info.total_memory};
  auto reserved = static_cast<std::size_t>(memory::stats(device).reserved_bytes[memory::all].current);
  return {e.info.total_memory - std::min(reserved, e.info.total_memory), e.info.total_memory};
}

bool can_access_peer(int device, int peer) {
  auto &a = device_entry(device), &b = device_entry(peer);
  if (device == peer) return false;
  if (a.info.type == "cpu" && b.info.type == "cpu") return a.context == b.context;
  sycl::device from = a.device;
  return a.device.get_platform() == b.device.get_platform() && from.ext_oneapi_can_access_peer(b.device);
}

int current_device() {
  return thread_device;
}

void set_device(int device) {
  device_entry(device);
  thread_device = device;
}

void set_device_unchecked(int device) noexcept {
  thread_device = device;
}

int exchange_device(int device) {
  int before = thread_device;
  if (device >= 0 && device != before) set_device(device);
  return before;
}

void synchronize(int device) {
  device_entry(device);
  for (Stream stream : all_streams(device)) {
    wait_interruptibly(stream);
    stream.synchronize();
  }
}

int device_of_pointer(const void* ptr) {
  if (!startup::is_initialized()) return -1;
  auto block = memory::find(ptr);
  if (block.base) return block.device;
  auto& table = device_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto& e = *table[i];
    if (sycl::get_pointer_type(ptr, e.context) != sycl::usm::alloc::device) continue;
    if (sycl::get_pointer_device(ptr, e.context) == e.device) return static_cast<int>(i);
  }
  return -1;
}

bool generic_backend() {
  static bool forced = env::flag("XPU_GENERIC_BACKEND");
  if (forced) return true;
  auto& table = device_table();
  return !table.empty() && table[0]->info.backend != "level_zero" && table[0]->info.backend != "opencl";
}

bool is_initialized() {
  return startup::is_initialized();
}

}  // namespace xpu
