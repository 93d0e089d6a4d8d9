// PJRT_Device: a device's id, description, stream and memory kinds.
#pragma once

#include <pjrt_c_api.h>

#include <string>
#include <vector>

#include "pjrt/named_values.h"
#include "xpu/device.h"
#include "xpu/stream.h"

/// Describes device `id`; an id beyond this machine's devices is described like the first device.
struct PJRT_DeviceDescription {
  explicit PJRT_DeviceDescription(int id);

  int id;
  std::string kind, debug_string, to_string;
  xla_xpu::NamedValues attributes;
};

/// Owned by its client.
struct PJRT_Device {
  explicit PJRT_Device(int id);
  ~PJRT_Device();
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;

  int id;
  PJRT_DeviceDescription description;
  /// Takes all work of the device. Other frameworks use it by default too, so exchanging data needs no wait.
  xpu::Stream stream;
  std::vector<PJRT_Memory*> memories;
};
