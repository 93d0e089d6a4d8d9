#include "compile/first_use.h"

#include <atomic>
#include <exception>

#include "compile/ahead/build_ahead.h"
#include "trace/recorder.h"
#include "xpu/cache.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

// Says once that this start compiles and later ones do not.
void tell_of_long_wait(int device, std::uint64_t nanoseconds, bool stored) {
  static std::atomic<std::uint64_t> waited{0}, builds{0};
  static std::atomic<bool> told{false};
  constexpr std::uint64_t long_wait = 2'000'000'000;
  auto count = ++builds;
  auto total = waited += nanoseconds;
  if (total < long_wait || told.exchange(true)) return;
  auto left = build_ahead::expected(device);
  // Building ahead helps only where it can be kept.
  const char* next =
      stored ? "They are cached: the next start does not wait. `xpu-sdk warm` builds them ahead"
      : cache_folder().empty()
          ? "The kernel cache is off, so every process compiles them. `xpu-sdk doctor` says why"
          : "They could not be cached, so every process compiles them. `xpu-sdk doctor` says why";
  log(LogLevel::warning,
      join("kernels are compiled when they are first used: ", count, count == 1 ? " took " : " have taken ",
           total / 100'000'000 / 10.0, " s", left ? join(", some ", left, " more may follow") : "", ". ",
           next, " (logged once)"));
}

}  // namespace

FirstUse::FirstUse(int device)
    : device_(device), begin_(trace::now()), exceptions_before_(std::uncaught_exceptions()) {}

FirstUse::~FirstUse() {
  finish();
  if (std::uncaught_exceptions() == exceptions_before_) tell_of_long_wait(device_, end_ - begin_, stored_);
}

void FirstUse::finish() {
  if (end_) return;
  end_ = trace::now();
  if (trace::active()) trace::record_host(trace::Record::Kind::compile, "compile", begin_, end_);
}

}  // namespace xpu
