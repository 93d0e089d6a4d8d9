#include <c10/core/CachingDeviceAllocator.h>

#include "bridge/allocators.h"
#include "bridge/custom_allocator.h"
#include "bridge/runtime.h"
#include "bridge/trace.h"

namespace torch_xpu {
namespace {

using c10::DeviceIndex;
using c10::DeviceType;

// Storages are freed by address alone. The runtime stays loaded until the process ends.
void free_device_block(void* ptr) {
  if (!ptr) return;
  fire_gpu_trace([&](auto& to) {
    to.trace_gpu_memory_deallocation(DeviceType::XPU, reinterpret_cast<std::uintptr_t>(ptr));
  });
  if (!free_custom(ptr)) runtime_if_loaded()->deallocate(ptr);
}

void* allocate_block(std::size_t bytes, int device) {
  void* ptr = nullptr;
  if (!bytes || allocate_custom(&ptr, bytes, device)) return ptr;
  return runtime().allocate(bytes, device, runtime().current_stream(device));
}

struct DeviceAllocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    int device = current_device();
    void* ptr = allocate_block(bytes, device);
    if (ptr)
      fire_gpu_trace([&](auto& to) {
        to.trace_gpu_memory_allocation(DeviceType::XPU, reinterpret_cast<std::uintptr_t>(ptr));
      });
    return {ptr, ptr, &free_device_block, {DeviceType::XPU, static_cast<DeviceIndex>(device)}};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_device_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    runtime().copy(to, from, bytes, current_device());
  }

  bool initialized() override { return runtime_if_loaded(); }
  void emptyCache(c10::MempoolId_t) override {
    if (auto* found = runtime_if_loaded()) found->empty_cache();
  }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    runtime().record_stream(data.get(), stream.device_index(), stream.id());
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex device) override {
    return runtime().stats(device_or_current(device));
  }
  void resetAccumulatedStats(DeviceIndex device) override {
    runtime().reset_accumulated_stats(device_or_current(device));
  }
  void resetPeakStats(DeviceIndex device) override { runtime().reset_peak_stats(device_or_current(device)); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(DeviceIndex device) override {
    return runtime().memory_info(device_or_current(device));
  }
};

}  // namespace

// Never destroyed: storages that live until the process ends come back to it.
c10::DeviceAllocator* device_allocator() {
  static auto* one = new DeviceAllocator;
  return one;
}

}  // namespace torch_xpu
