// What kernels take, told by the compiler of their source, for backends whose images do not say it.
#pragma once

#include <string>
#include <string_view>

#include "compile/spirv.h"

namespace xpu {

/// `source` with a probe at the beginning of each kernel's body, for which the compiler writes a warning with
/// the kernel's parameters into its log. Kernels are found by `XPU_KERNEL(dims) name(`; lines stay the lines
/// they are.
std::string add_signature_probes(std::string_view source);

/// What the probes wrote into the log of a build. A kernel without a probe is not in it.
Signatures read_probed_signatures(std::string_view log);

}  // namespace xpu
