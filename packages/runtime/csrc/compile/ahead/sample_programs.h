// What the sample programs want, kernel by kernel; ships with the library.
#pragma once

#include <vector>

#include "compile/keys.h"

namespace xpu {

/// Returns Key::ready of the SPIR-V that each program wants on such a device, in order of first use.
std::vector<std::vector<ReadyKey>> sample_programs(int device);

}  // namespace xpu
