#include "compile/compilers/time_limit.h"

#include <atomic>

#include "compile/crash_source.h"
#include "process/env.h"
#include "xpu/error.h"

namespace xpu {
namespace {

// A driver without hardware, as `xpu-sdk check --virtual-gpu` sets it up, takes longer for everything.
bool has_virtual_gpu() {
  return env::text("NEOReadDebugKeys") == "1" && env::text("SetCommandStreamReceiver", "0") != "0";
}

std::atomic<std::int64_t>& limit() {
  static std::atomic<std::int64_t> milliseconds{has_virtual_gpu() ? 600'000 : 120'000};
  return milliseconds;
}

}  // namespace

std::chrono::milliseconds build_time_limit() {
  return std::chrono::milliseconds(limit().load());
}

void set_build_time_limit(std::chrono::milliseconds time) {
  expect<UsageError>(time.count() > 0, "set_build_time_limit: got ", time.count(),
                     " ms, expected a time above 0");
  limit() = time.count();
}

std::string save_failed_input(std::string_view source, const Bytes& spirv) {
  std::string what = source.empty() ? "SPIR-V" : "source";
  auto text =
      source.empty() ? std::string_view(reinterpret_cast<const char*>(spirv.data()), spirv.size()) : source;
  auto path = save_crash_source(text, source.empty() ? ".spirv" : ".sycl");
  return path.empty() ? "No folder was found to save the " + what + " in"
                      : "The " + what + " is saved in " + path;
}

void throw_build_timeout(std::string_view source, const Bytes& spirv) {
  fail<CompileError>("the compiler had not built this ", source.empty() ? "SPIR-V" : "source", " after ",
                     static_cast<double>(build_time_limit().count()) / 1000,
                     " s, and was not waited for any longer\n", save_failed_input(source, spirv),
                     ". Report it to the compiler's developers; another form of the kernel may compile.");
}

}  // namespace xpu
