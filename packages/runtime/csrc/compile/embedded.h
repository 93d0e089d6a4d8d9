// Text of the files of device/ and kernels/, compiled into the library.
#pragma once

#include <string_view>

namespace xpu {

/// Text of a file of kernels/ ("matmul.sycl") or the device library ("xpu/math.h"). Throws InternalError for
/// other names.
std::string_view kernel_source(std::string_view name);
/// Empty if there is no such file.
std::string_view find_embedded(std::string_view name);

}  // namespace xpu
