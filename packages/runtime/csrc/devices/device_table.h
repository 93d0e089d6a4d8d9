// The devices of the process.
#pragma once

#include <memory>
#include <string>
#include <sycl/sycl.hpp>
#include <vector>

#include "xpu/device.h"

namespace xpu {

struct DeviceEntry {
  sycl::device device;
  sycl::context context;
  DeviceInfo info;
};

/// In the order that users see. Found at the first call, then never changed or destroyed: work may outlive
/// static objects. Thread-safe.
const std::vector<std::unique_ptr<DeviceEntry>>& device_table();
/// Says why the table is empty and what to do.
std::string no_device_reason();
/// Reads every property of a device (device_info.cpp).
DeviceInfo read_device_info(const sycl::device& device);

}  // namespace xpu
