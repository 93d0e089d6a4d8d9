// What is loaded in this process and where from.
#pragma once

#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

/// Absolute paths of the loaded libraries whose file name starts with `prefix`.
XPU_API std::vector<std::string> loaded_libraries(const std::string& prefix);
/// The folder the SYCL runtime, and so the vendor wheels' libraries, were loaded from.
XPU_API std::string vendor_folder();

}  // namespace xpu
