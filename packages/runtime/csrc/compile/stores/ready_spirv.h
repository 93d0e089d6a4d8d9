// The SPIR-V of kernels that programs meet first, which ships with the library.
#pragma once

#include <vector>

#include "compile/stores/pack_file.h"

namespace xpu {

/// Returns the SPIR-V of all kernels that ship for a device.
std::vector<Bytes> ready_spirv_of(int device);
/// The machines of a device's kind, as files that ship name them.
TargetMask target_of(int device);

}  // namespace xpu
