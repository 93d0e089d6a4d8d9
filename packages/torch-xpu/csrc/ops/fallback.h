// Operators without an xpu kernel run on the host: counted, named, and rejected on request.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bridge/api.h"

namespace torch_xpu {

enum class FallbackMode { error, warn, allow };

TORCH_XPU_PUBLIC FallbackMode fallback_mode();
TORCH_XPU_PUBLIC void set_fallback_mode(FallbackMode mode);
/// How often each operator ran on the host since the start or the last reset.
TORCH_XPU_PUBLIC std::map<std::string, std::int64_t> fallbacks();
TORCH_XPU_PUBLIC void reset_fallbacks();

}  // namespace torch_xpu
