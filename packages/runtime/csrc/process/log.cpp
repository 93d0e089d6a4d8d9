#include "xpu/log.h"

#include <atomic>
#include <cstdio>

namespace xpu {
namespace {
std::atomic<LogSink> current_sink{nullptr};
}

void log(LogLevel level, const std::string& message) {
  if (LogSink sink = current_sink.load(std::memory_order_acquire)) return sink(level, message);
  if (level >= LogLevel::warning) std::fprintf(stderr, "xpu_runtime: %s\n", message.c_str());
}

void set_log_sink(LogSink sink) {
  current_sink.store(sink, std::memory_order_release);
}

}  // namespace xpu
