// Builds that take longer than build_time_limit().
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

#include "xpu/build_time.h"
#include "xpu/cache.h"

namespace xpu {

/// Saves the source, or the SPIR-V if there is no source, and says so in the CompileError.
[[noreturn]] void throw_build_timeout(std::string_view source, const Bytes& spirv);
/// Saves the source, or the SPIR-V if there is no source. Returns the sentence that says where.
std::string save_failed_input(std::string_view source, const Bytes& spirv);

/// Calls `build` on a thread of its own and returns its result; calls `give_up`, which throws, at the limit.
/// The thread continues then: nothing can end a compiler within this process.
template <class Result>
Result build_in_time(std::function<Result()> build, const std::function<void()>& give_up) {
  auto task = std::make_shared<std::packaged_task<Result()>>(std::move(build));
  auto result = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // the process may have no more threads
    (*task)();
  }
  if (result.wait_for(build_time_limit()) == std::future_status::timeout) give_up();
  return result.get();
}

}  // namespace xpu
