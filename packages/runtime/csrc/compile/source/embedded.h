// Text of the files of device/ and kernels/, compiled into the library.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// Returns the line that includes a file of kernels/ ("matmul.sycl"), which stands at the end of a source.
/// Throws InternalError for other names.
std::string kernel_source(std::string_view name);
/// Returns the text of a file of the device library ("xpu/math.h") or of kernels/
/// ("xpu/kernels/matmul.sycl"), empty if there is no such file.
std::string_view find_embedded(std::string_view name);

}  // namespace xpu
