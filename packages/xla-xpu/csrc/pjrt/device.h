// A device as JAX sees it: a number, a description, the kinds of memory it reaches.
#pragma once

#include <pjrt_c_api.h>

#include <string>
#include <vector>

#include "pjrt/named_values.h"
#include "xpu/device.h"
#include "xpu/stream.h"

/// Of a device of this machine; one with a number beyond those is like the first.
struct PJRT_DeviceDescription {
  explicit PJRT_DeviceDescription(int id);

  int id;
  std::string kind, debug_string, to_string;
  xla_xpu::NamedValues attributes;
};

/// Lives as long as its client.
struct PJRT_Device {
  explicit PJRT_Device(int id);
  ~PJRT_Device();
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;

  int id;
  PJRT_DeviceDescription description;
  /// The one everything is queued on: other frameworks start on it too, so that nobody waits for anybody.
  xpu::Stream stream;
  std::vector<PJRT_Memory*> memories;
};
