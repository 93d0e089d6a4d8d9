#include "process/shutdown.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "memory/strict/strict.h"
#include "process/env.h"
#include "process/immortal.h"
#include "process/startup.h"
#include "process/thread_registry.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/process.h"

namespace xpu {
namespace shutdown {
namespace {

using Clock = std::chrono::steady_clock;
class DrainWaiter;

struct ShutdownState {
  std::mutex mutex;
  std::vector<std::function<void()>> actions;
  unsigned long long library_count = 0;  ///< loaded when the exit handler was registered last
  Clock::duration time_waited{0};        ///< for devices and threads in all; XPU_EXIT_TIMEOUT bounds it
  std::optional<Clock::time_point> timed_out_at;  ///< the end of Python's wait, with work still pending
  std::shared_ptr<DrainWaiter> waiter;
  std::atomic<bool> failed{false};
};
ShutdownState& shutdown_state() {
  static auto& state = leaked<ShutdownState>();
  return state;
}

void print_message(const std::string& text) noexcept {
  std::fprintf(stderr, "xpu_runtime: %s\n", text.c_str());
}

template <class Work>
void report_failure_of(Work&& work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    shutdown_state().failed = true;
    print_message(join("work that was pending when the process ended failed: ", e.what()));
  }
}

unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

/// A thread that waits for the work now pending on all streams, so that the caller can wait with a timeout.
/// Other threads may enqueue more meanwhile.
class DrainWaiter {
 public:
  DrainWaiter() : state_(std::make_shared<State>()) {
    std::vector<Stream> streams;
    for (int device = 0; device < device_count(); ++device)
      for (Stream stream : all_streams(device)) streams.push_back(stream);
    std::thread([state = state_, streams] {
      for (Stream stream : streams) report_failure_of([&] { drain(stream); });
      std::lock_guard lock(state->mutex);
      state->drained = true;
      state->changed.notify_all();
    }).detach();
  }
  bool wait_for(Clock::duration timeout) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, timeout, [&] { return state_->drained; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool drained = false;
  };

  // Another thread may be between its check and its submission. It then holds `enqueue_mutex`.
  static void drain(Stream stream) {
    { std::lock_guard enqueue_lock(stream.state()->enqueue_mutex); }
    if (is_capturing(stream)) return;
    strict::AccessGuard guard;
    finish(*stream.state());
    throw_pending(stream.device());
  }

  std::shared_ptr<State> state_;
};

Clock::duration timeout() {
  return std::chrono::seconds(env::number("XPU_EXIT_TIMEOUT", 5));
}

Clock::duration time_left() {
  return std::max(timeout() - shutdown_state().time_waited, Clock::duration(0));
}

/// Time left for waits in Python's atexit functions. After them the interpreter takes about a second to end,
/// in which the devices continue: a fifth of the timeout is reserved for it.
Clock::duration time_left_before_interpreter_ends() {
  return std::max(time_left() - timeout() / 5, Clock::duration(0));
}

/// Returns false after `timeout`; the next call then continues the same wait.
bool wait_for_devices(Clock::duration timeout) {
  auto& waiter = shutdown_state().waiter;
  if (!waiter) waiter = std::make_shared<DrainWaiter>();
  auto begin = Clock::now();
  bool drained = waiter->wait_for(timeout);
  shutdown_state().time_waited += Clock::now() - begin;
  if (drained) waiter.reset();
  return drained;
}

// A new waiter needs some time to find the devices idle, even if no time is left.
bool drain_within_timeout() {
  constexpr Clock::duration grace = std::chrono::milliseconds(250);
  if (auto since = std::exchange(shutdown_state().timed_out_at, {}))
    shutdown_state().time_waited += Clock::now() - *since;
  auto min_wait = shutdown_state().waiter ? Clock::duration(0) : grace;
  if (!wait_for_devices(std::max(time_left(), min_wait))) return false;
  startup::mark_shutdown_done();  // so only work that was enqueued meanwhile is left
  return wait_for_devices(std::max(time_left(), grace));
}

/// Returns the exit status: failed work turns success into failure.
int status_with_failures(int status) {
  for (int device = 0; device < device_count(); ++device) report_failure_of([&] { throw_pending(device); });
  return status == EXIT_SUCCESS && shutdown_state().failed.exchange(false) ? EXIT_FAILURE : status;
}

void run_actions() {
  auto& all = shutdown_state().actions;
  while (!all.empty()) {
    auto action = std::move(all.back());
    all.pop_back();
    action();
  }
}

// The exit handler. It may be registered several times; only the first call has an effect. If it calls
// exit(), glibc runs the remaining handlers and ends the process with the new status.
void shut_down(int status, void*) {
  if (startup::is_forked_or_shut_down() || !startup::is_initialized()) return;
  bool drained = drain_within_timeout();
  int final_status = status_with_failures(status);
  if (!drained) {
    print_message(join("work of the devices is still pending ",
                       std::chrono::duration_cast<std::chrono::seconds>(timeout()).count(),
                       " s after the program ended; the process ends without waiting for it. Set "
                       "XPU_EXIT_TIMEOUT to wait longer"));
    std::fflush(nullptr);
    _exit(final_status);
  }
  run_actions();
  if (final_status != status) std::exit(final_status);
}

/// exit() first destroys the calling thread's thread_local objects. A handler that one of them registers runs
/// next, before the static objects of vendor libraries are destroyed, even if those were loaded late.
struct MainThreadExitHook {
  bool is_main = false;
  ~MainThreadExitHook() {
    if (is_main) on_exit(shut_down, nullptr);
  }
};
thread_local MainThreadExitHook main_thread_exit_hook;

bool is_main_thread() {
  return gettid() == getpid();
}

// As a rule the main thread loads this library.
const bool hook_is_set = main_thread_exit_hook.is_main = is_main_thread();

}  // namespace

void reregister_exit_handler() {
  main_thread_exit_hook.is_main = is_main_thread();
  std::lock_guard lock(shutdown_state().mutex);
  auto now = libraries_loaded();
  if (std::exchange(shutdown_state().library_count, now) != now) on_exit(shut_down, nullptr);
}

}  // namespace shutdown

void at_shutdown(std::function<void()> action) {
  std::lock_guard lock(shutdown::shutdown_state().mutex);
  shutdown::shutdown_state().actions.push_back(std::move(action));
}

void begin_shutdown(ShutdownHooks hooks) {
  thread_registry::set_park(hooks.park);
  startup::mark_shutdown_begun(hooks.refuse);
}

void require_thread_allowed() {
  startup::require_thread_allowed();
}

bool drain_for(std::chrono::milliseconds timeout) {
  using namespace shutdown;
  if (startup::is_forked_or_shut_down() || !startup::is_initialized()) return true;
  auto left = time_left_before_interpreter_ends();
  if (wait_for_devices(std::min<Clock::duration>(timeout, left))) return true;
  if (left > timeout) return false;
  if (!shutdown_state().timed_out_at) shutdown_state().timed_out_at = Clock::now();
  return true;
}

bool wait_for_threads(std::chrono::milliseconds timeout) {
  using namespace shutdown;
  auto begin = Clock::now();
  std::this_thread::sleep_for(std::min<Clock::duration>(timeout, time_left_before_interpreter_ends()));
  shutdown_state().time_waited += Clock::now() - begin;
  return time_left_before_interpreter_ends() > Clock::duration(0);
}

}  // namespace xpu
