// The functions that a kernel's source calls by name, for errors of compilers that give no reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xpu {

/// Returns the names in the source of `flat` (see flatten()), each once and in order. It leaves out members,
/// macros named XPU_*, files of the device library, and functions that the source itself defines.
std::vector<std::string> called_functions(std::string_view flat);

}  // namespace xpu
