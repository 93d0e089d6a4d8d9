// PJRT_Client: JAX's handle of the platform. Each client has its own device and memory objects.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/device.h"
#include "pjrt/platform.h"
#include "pjrt/topology.h"

struct PJRT_Client {
  PJRT_Client();

  /// Throws PjrtFailure if there is no such device.
  PJRT_Device* device(int id) const;

  xla_xpu::Platform& platform = xla_xpu::Platform::get();
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;
  PJRT_TopologyDescription topology;

 private:
  std::vector<std::unique_ptr<PJRT_Device>> owned_;
};
