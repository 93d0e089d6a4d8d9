// The threads that hold an AccessGuard, and the kernels that they run. The fault handler reads it.
#pragma once

#include <atomic>

namespace xpu::strict {

struct DeviceWork {
  static constexpr int capacity = 64, name_size = 200;
  std::atomic<long> thread{0};  ///< 0: free
  char name[name_size] = {};
};

extern DeviceWork device_works[DeviceWork::capacity];

}  // namespace xpu::strict
