// One text out of a kernel source and the device library.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// Replaces each `#include <xpu/NAME.h>` by that file, once each, and keeps the line numbers of `source` in messages.
std::string flatten(std::string_view source);

}  // namespace xpu
