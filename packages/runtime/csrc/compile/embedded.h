// The text of device/ and kernels/, built into the library.
#pragma once

#include <string_view>

namespace xpu {

/// A file of kernels/ ("matmul.sycl") or of the device library ("xpu/math.h"); throws InternalError for
/// another name.
std::string_view kernel_source(std::string_view name);
/// Empty when there is no such file.
std::string_view find_embedded(std::string_view name);

}  // namespace xpu
