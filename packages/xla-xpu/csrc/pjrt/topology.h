// Topologies: the devices to compile for, those of a client or a number of devices that need not exist here.
#pragma once

#include <pjrt_c_api.h>

#include <memory>
#include <string_view>
#include <vector>

#include "pjrt/device.h"

struct PJRT_TopologyDescription {
  std::vector<PJRT_DeviceDescription*> descriptions;
  /// Empty if the descriptions belong to a client, which then owns the topology too.
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned;
};

namespace xla_xpu {

/// Returns this machine's devices for "" and "xpu", or four like its first device for "xpu:4". Throws
/// PjrtFailure for other names.
std::unique_ptr<PJRT_TopologyDescription> topology_of(std::string_view name);

}  // namespace xla_xpu
