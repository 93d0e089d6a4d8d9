// Signature probes: have the source compiler report kernels' parameters, for backends whose images do not
// tell them.
#pragma once

#include <string>
#include <string_view>

#include "compile/program/spirv.h"

namespace xpu {

/// Returns `source` with a probe at the beginning of each kernel's body. For each the compiler logs a warning
/// with the kernel's parameters. Kernels are found by `XPU_KERNEL(dims) name(`. Line numbers do not change.
std::string add_signature_probes(std::string_view source);

/// Reads the parameters from the log of a build. A kernel without a probe is not in the result.
Signatures read_probed_signatures(std::string_view log);

}  // namespace xpu
