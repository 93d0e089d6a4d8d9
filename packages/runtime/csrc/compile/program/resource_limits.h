// What kernels may take of a device.
#pragma once

#include "compile/program/spirv.h"

namespace xpu {

/// Throws OutOfResources if a kernel needs more local memory or bytes of arguments than the device has,
/// before the driver builds it: drivers fail without the reason, or only when the kernel is launched.
void require_resources(int device, const Signatures& signatures);

}  // namespace xpu
