// The list of kernels that a process wants, from which the kernels to ship are chosen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xpu {

/// Appends a kernel to the file that XPU_RECORD_KERNELS names, if it is set.
void record_kernel(std::string_view source, const std::vector<std::string>& options, int sub_group_size);

}  // namespace xpu
