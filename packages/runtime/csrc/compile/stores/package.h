// Kernels of packages of compiled programs: SPIR-V by Key::ready, native code by Key::id.
#pragma once

#include <string>

#include "compile/keys.h"

namespace xpu {

/// The key of native code in the file of a package. It has the device, the driver's version and the CPU's
/// features, so that other machines miss.
ReadyKey package_key(const Key& key);

}  // namespace xpu
