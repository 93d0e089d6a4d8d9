// Messages for people. C++ writes warnings to stderr; Python routes all of them to logging's "xpu_runtime".
#pragma once

#include <string>

#include "xpu/abi.h"

namespace xpu {

enum class LogLevel : int { debug = 10, info = 20, warning = 30, error = 40 };
using LogSink = void (*)(LogLevel level, const std::string& message);

XPU_API void log(LogLevel level, const std::string& message);
/// Null restores stderr. The sink may be called from any thread and with the runtime's locks held.
XPU_API void set_log_sink(LogSink sink);

}  // namespace xpu
