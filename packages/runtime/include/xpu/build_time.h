// The time after which a build of a kernel ends, because a vendor's compiler may not return.
#pragma once

#include <chrono>

#include "xpu/abi.h"

namespace xpu {

/// At first 120 seconds, or 600 on a virtual GPU. Thread-safe.
XPU_API std::chrono::milliseconds build_time_limit();
/// Later builds over this time end with a CompileError that names the saved source. Thread-safe.
XPU_API void set_build_time_limit(std::chrono::milliseconds time);

}  // namespace xpu
