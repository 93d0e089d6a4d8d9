// Scopes that set the calling thread's device and stream. Destroy them on the thread that made them.
#pragma once

#include "xpu/device.h"
#include "xpu/stream.h"

namespace xpu {

class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : before_(exchange_device(device)) {}
  ~DeviceGuard() { exchange_device(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

/// Makes `stream` the current stream of its device, and its device the current device.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream) : device_(stream.device()), before_(exchange_stream(stream)) {}
  ~StreamGuard() { exchange_stream(before_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceGuard device_;
  Stream before_;
};

}  // namespace xpu
