// Operators without an xpu kernel run on the host: counted, named, and rejected on request.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torch_xpu {

enum class FallbackMode { error, warn, allow };

FallbackMode fallback_mode();
void set_fallback_mode(FallbackMode mode);
/// How often each operator ran on the host since the start or the last reset.
std::map<std::string, std::int64_t> fallbacks();
void reset_fallbacks();

}  // namespace torch_xpu
