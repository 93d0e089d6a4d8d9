// One text out of a kernel source and the device library.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// Replaces each `#include <xpu/NAME.h>` by that file, once each.
std::string flatten(std::string_view source);
/// A compiler's log about `flat` with its places ("rtc_0.cpp:17:3") as places in the files it was made of.
std::string name_places(const std::string& log, std::string_view flat);

}  // namespace xpu
