// Log messages. C++ writes warnings to stderr; Python sends all messages to the logger "xpu_runtime".
#pragma once

#include <string>

#include "xpu/abi.h"

namespace xpu {

enum class LogLevel : int { debug = 10, info = 20, warning = 30, error = 40 };
using LogSink = void (*)(LogLevel level, const std::string& message);

/// Thread-safe.
XPU_API void log(LogLevel level, const std::string& message);
/// Null restores stderr. The sink is called from any thread, also with locks of the runtime's held: it must
/// not call the runtime.
XPU_API void set_log_sink(LogSink sink);

}  // namespace xpu
