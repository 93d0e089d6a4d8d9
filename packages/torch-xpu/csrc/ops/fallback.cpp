#include "ops/fallback.h"

#include <ATen/native/CPUFallback.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace torch_xpu {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, std::int64_t> of;
};
Counts& counts() {
  static auto* one = new Counts;
  return *one;
}

FallbackMode mode_from_environment() {
  const char* text = std::getenv("XPU_FALLBACK");
  std::string mode = text && *text ? text : "warn";
  if (mode == "error") return FallbackMode::error;
  if (mode == "warn") return FallbackMode::warn;
  TORCH_CHECK(mode == "allow", "XPU_FALLBACK: got \"", mode, "\", expected error, warn or allow");
  return FallbackMode::allow;
}

std::atomic<FallbackMode>& mode() {
  static std::atomic<FallbackMode> one{mode_from_environment()};
  return one;
}

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto name = toString(op.schema().operator_name());
  auto how = mode().load(std::memory_order_relaxed);
  TORCH_CHECK_NOT_IMPLEMENTED(how != FallbackMode::error, name,
                              " has no xpu kernel, and XPU_FALLBACK=error forbids to run it on the host");
  bool first;
  {
    std::lock_guard lock(counts().mutex);
    first = counts().of[name]++ == 0;
  }
  if (first && how == FallbackMode::warn)
    TORCH_WARN(name,
               " has no xpu kernel and runs on the host, with copies there and back. "
               "torch_xpu.fallbacks() counts such calls; XPU_FALLBACK=allow ends this warning.");
  at::native::cpu_fallback(op, stack, true);
}

}  // namespace

FallbackMode fallback_mode() {
  return mode();
}
void set_fallback_mode(FallbackMode to) {
  mode() = to;
}

std::map<std::string, std::int64_t> fallbacks() {
  std::lock_guard lock(counts().mutex);
  return counts().of;
}

void reset_fallbacks() {
  std::lock_guard lock(counts().mutex);
  counts().of.clear();
}

TORCH_LIBRARY_IMPL(_, XPU, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace torch_xpu
