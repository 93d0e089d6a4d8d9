#include "compile/compilers/build_service.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "compile/compilers/helper_process.h"
#include "compile/compilers/time_limit.h"
#include "compile/stores/disk_cache.h"
#include "process/env.h"
#include "process/immortal.h"
#include "process/interrupt.h"
#include "process/thread_registry.h"
#include "xpu/cache.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::build_service {
namespace {

using Helper = std::unique_ptr<HelperProcess>;
using Status = HelperProcess::Status;

constexpr std::size_t max_crashes = 2;

// Without the names of values, the translator to SPIR-V crashes on integers whose bits are reversed. With
// them SPIR-V is half as large again, so only the second attempt keeps them.
constexpr const char* keep_names = "-fno-discard-value-names";

std::size_t max_helpers() {
  return env::number("XPU_BUILD_PROCESSES", std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

class Helpers {
 public:
  Helpers(std::size_t max, Priority priority) : max_(max), priority_(priority) {}

  void prestart(std::size_t count) {
    std::lock_guard lock(mutex_);
    while (running_ < std::min(count, max_))
      if (auto helper = start()) idle_.push_back(std::move(helper));
  }

  /// Blocks until a helper is free. Returns null if there can be none.
  Helper acquire() {
    thread_registry::BlockingScope blocking;
    std::unique_lock lock(mutex_);
    while (max_ > 0) {
      if (!idle_.empty()) {
        auto helper = std::move(idle_.back());
        idle_.pop_back();
        return helper;
      }
      if (running_ >= max_) {
        if (free_.wait_for(lock, interrupt::check_interval) == std::cv_status::timeout) {
          lock.unlock();
          interrupt::check_operation();
          lock.lock();
        }
      } else if (auto helper = start()) {
        return helper;
      }
    }
    return nullptr;
  }

  void release(Helper helper, Status status) {
    std::lock_guard lock(mutex_);
    if (status == Status::answered) {
      idle_.push_back(std::move(helper));
    } else {
      --running_;
      if (status == Status::never_ready && ++never_ready_ == max_crashes) disable();
    }
    free_.notify_one();
  }

 private:
  Helper start() {
    auto helper = HelperProcess::start(priority_);
    if (helper)
      ++running_;
    else
      disable();
    return helper;
  }

  // Kernels are then built in this process, without another attempt to start a helper.
  void disable() {
    if (max_ > 0 && priority_ == Priority::normal)
      log(LogLevel::warning,
          "no helper process can be started, so kernels are built in this process, which a crash of the "
          "compiler would end. Set XPU_BUILD_PROCESSES=0 to turn helpers, and this warning, off");
    max_ = 0;
    free_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<Helper> idle_;
  std::size_t running_ = 0, never_ready_ = 0, max_;
  Priority priority_;
};

Helpers& helpers() {
  static auto& instance = immortal<Helpers>(max_helpers(), Priority::normal);
  return instance;
}

Helpers& helpers_in_background() {
  static auto& instance = leaked<Helpers>(background_helpers(), Priority::low);
  return instance;
}

[[noreturn]] void throw_compiler_crash(const BuildInput& input, const std::string& exit_description) {
  fail<CompileError>("the compiler crashed ", max_crashes, " times on this ",
                     input.source.empty() ? "SPIR-V" : "source",
                     ", each time in a helper process; the last one ended ", exit_description, "\n",
                     save_failed_input(input.source, input.spirv),
                     ". Report it to the compiler's developers; another form of the kernel may compile.");
}

BuildResponse response_or_throw(BuildResponse response) {
  switch (response.outcome) {
    case BuildResponse::Outcome::built:
      return response;
    case BuildResponse::Outcome::compile_error:
      throw CompileError(response.message);
    case BuildResponse::Outcome::out_of_resources:
      throw OutOfResources(response.message);
    case BuildResponse::Outcome::out_of_memory:
      throw OutOfMemory(response.message);
    case BuildResponse::Outcome::unsupported:
      throw Unsupported(response.message);
    case BuildResponse::Outcome::failed:
      break;
  }
  throw DeviceError(response.message);
}

std::optional<BuildResponse> build_in(Helpers& helpers, const BuildInput& input) {
  std::size_t crashes = 0;
  BuildRequest request{input, {}, build_time_limit()};
  while (auto helper = helpers.acquire()) {
    HelperProcess::Reply reply;
    try {
      reply = helper->ask(request);
    } catch (...) {  // interrupted: the helper ends, since nobody receives what it builds
      helpers.release(std::move(helper), Status::exited_idle);
      throw;
    }
    helpers.release(std::move(helper), reply.status);
    if (reply.status == Status::answered) return response_or_throw(std::move(reply.response));
    if (reply.status == Status::timed_out) throw_build_timeout(input.source, input.spirv);
    // A helper may also be killed from outside; the next one then builds the program.
    if (reply.status != Status::crashed) continue;
    if (++crashes == max_crashes) throw_compiler_crash(input, reply.exit_description);
    if (!input.source.empty()) request.input.options.emplace_back(keep_names);
  }
  return {};
}

}  // namespace

std::optional<BuildResponse> build(const BuildInput& input, Priority priority) {
  return build_in(priority == Priority::normal ? helpers() : helpers_in_background(), input);
}

std::size_t background_helpers() {
  constexpr std::size_t enough = 4;
  auto most = max_helpers();
  return most == 0 ? 0 : std::min(most - 1, enough);
}

void prestart(std::size_t count) {
  helpers().prestart(count);
}

void prestart_if_cache_empty() {
  if (!has_stored_programs()) prestart(1);
}

}  // namespace xpu::build_service
