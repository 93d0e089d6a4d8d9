// Devices as something to compile for: a client's, or as many as a name says, which need not be here.
#pragma once

#include <pjrt_c_api.h>

#include <memory>
#include <string_view>
#include <vector>

#include "pjrt/device.h"

struct PJRT_TopologyDescription {
  std::vector<PJRT_DeviceDescription*> descriptions;
  /// Empty when they are a client's, with which the topology goes.
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned;
};

namespace xla_xpu {

/// "" or "xpu": this machine's devices; "xpu:4": four that are like those here. Throws for other names.
std::unique_ptr<PJRT_TopologyDescription> topology_of(std::string_view name);

}  // namespace xla_xpu
