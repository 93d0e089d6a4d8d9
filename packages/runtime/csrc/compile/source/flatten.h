// Flattening: expands a kernel source's includes of the device library.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// Replaces the first `#include <xpu/NAME.h>` of each file by its text and drops the others.
std::string flatten(std::string_view source);
/// Returns a compiler's log about `flat` with its positions ("rtc_0.cpp:17:3") as those in the original
/// files.
std::string name_places(const std::string& log, std::string_view flat);

}  // namespace xpu
