// Where built kernels are kept between processes.
#pragma once

#include <string>

#include "xpu/abi.h"

namespace xpu {

/// The user's folder; empty when caching to disk is off or the folder cannot be trusted.
XPU_API const std::string& cache_folder();
/// The folder of SPIR-V that ships with the wheel.
XPU_API std::string shipped_folder();
/// Changes when the kernel compiler does; part of every key.
XPU_API const std::string& compiler_id();

}  // namespace xpu
