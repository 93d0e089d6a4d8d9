#include "exit.h"

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

#include "env.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "stream_state.h"
#include "using_threads.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/process.h"

namespace xpu {
namespace exit {
namespace {

using Clock = std::chrono::steady_clock;
class DrainWaiter;

struct Shutdown {
  std::mutex mutex;
  std::vector<std::function<void()>> actions;
  unsigned long long libraries = 0;          ///< loaded so far, when the exit handler was registered last
  Clock::duration waited{0};                 ///< for devices and threads, in all: what bounds the wait
  std::optional<Clock::time_point> gave_up;  ///< when Python's wait ended with devices that still compute
  std::shared_ptr<DrainWaiter> waiter;
  std::atomic<bool> failed{false};
};
Shutdown& shutdown() {
  static auto* one = new Shutdown;
  return *one;
}

void print_message(const std::string& text) noexcept {
  std::fprintf(stderr, "xpu_runtime: %s\n", text.c_str());
}

template <class Work>
void report_failure_of(Work&& work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    shutdown().failed = true;
    print_message(join("work that was queued when the process ended failed: ", e.what()));
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

/// A thread that waits for what all streams hold now, so that the one that ends the process may look at the
/// clock. Other threads may go on to queue more.
class DrainWaiter {
 public:
  DrainWaiter() : state_(std::make_shared<State>()) {
    std::vector<Stream> streams;
    for (int device = 0; device < device_count(); ++device)
      for (Stream stream : live_streams(device)) streams.push_back(stream);
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

  // A thread that lives on may be between its check and its submission: it holds the stream's order then.
  static void drain(Stream stream) {
    { std::lock_guard order(stream.state()->order); }
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
  return std::max(timeout() - shutdown().waited, Clock::duration(0));
}

/// For waits of Python's functions of atexit. The interpreter takes about a second to end, in which the
/// devices compute on: that much of the time is left to it.
Clock::duration time_left_before_interpreter_ends() {
  return std::max(time_left() - timeout() / 5, Clock::duration(0));
}

/// Goes on with a wait that was given up before.
bool wait_for_devices(Clock::duration most) {
  auto& waiter = shutdown().waiter;
  if (!waiter) waiter = std::make_shared<DrainWaiter>();
  auto begin = Clock::now();
  bool drained = waiter->wait_for(most);
  shutdown().waited += Clock::now() - begin;
  if (drained) waiter.reset();
  return drained;
}

// A new waiter needs some time to see that the devices are idle, also where other waits took all there was.
bool drain_at_last() {
  constexpr Clock::duration grace = std::chrono::milliseconds(250);
  if (auto since = std::exchange(shutdown().gave_up, {})) shutdown().waited += Clock::now() - *since;
  auto least = shutdown().waiter ? Clock::duration(0) : grace;
  if (!wait_for_devices(std::max(time_left(), least))) return false;
  startup::mark_ended();  // what was queued since is all that there will be
  return wait_for_devices(std::max(time_left(), grace));
}

int status_of(int status) {
  for (int device = 0; device < device_count(); ++device) report_failure_of([&] { throw_pending(device); });
  return status == EXIT_SUCCESS && shutdown().failed.exchange(false) ? EXIT_FAILURE : status;
}

void run_actions() {
  auto& all = shutdown().actions;
  while (!all.empty()) {
    auto action = std::move(all.back());
    all.pop_back();
    action();
  }
}

// Runs once, whoever comes first. glibc goes on with what else is registered after an exit() in here, and the
// process ends with the status given to that.
void end(int status, void*) {
  if (startup::unusable() || !startup::initialized()) return;
  bool drained = drain_at_last();
  int own_status = status_of(status);
  if (!drained) {
    print_message(join("the devices still compute ",
                       std::chrono::duration_cast<std::chrono::seconds>(timeout()).count(),
                       " s after the program ended; the process ends without waiting for them "
                       "(XPU_EXIT_TIMEOUT)"));
    std::fflush(nullptr);
    _exit(own_status);
  }
  run_actions();
  if (own_status != status) std::exit(own_status);
}

/// exit() first destroys the calling thread's thread_local objects. A handler that one of them registers runs
/// next: before the static objects of vendor libraries, also of those that were loaded late.
struct MainThreadExitHook {
  bool is_main = false;
  ~MainThreadExitHook() {
    if (is_main) on_exit(end, nullptr);
  }
};
thread_local MainThreadExitHook main_thread_exit_hook;

bool is_main_thread() {
  return gettid() == getpid();
}

// Whoever loads this library is the main thread, as a rule.
const bool loaded = main_thread_exit_hook.is_main = is_main_thread();

}  // namespace

void wait_before_loaded_libraries() {
  main_thread_exit_hook.is_main = is_main_thread();
  std::lock_guard lock(shutdown().mutex);
  auto now = libraries_loaded();
  if (std::exchange(shutdown().libraries, now) != now) on_exit(end, nullptr);
}

}  // namespace exit

void at_end(std::function<void()> action) {
  std::lock_guard lock(exit::shutdown().mutex);
  exit::shutdown().actions.push_back(std::move(action));
}

void begin_shutdown(ShutdownHooks hooks) {
  using_threads::set_park(hooks.park);
  startup::mark_ending(hooks.refuse);
}

void require_active_thread() {
  startup::require_thread();
}

bool drain_for(std::chrono::milliseconds timeout) {
  using namespace exit;
  if (startup::unusable() || !startup::initialized()) return true;
  auto left = time_left_before_interpreter_ends();
  if (wait_for_devices(std::min<Clock::duration>(timeout, left))) return true;
  if (left > timeout) return false;
  if (!shutdown().gave_up) shutdown().gave_up = Clock::now();
  return true;
}

bool wait_for_threads(std::chrono::milliseconds timeout) {
  using namespace exit;
  auto begin = Clock::now();
  std::this_thread::sleep_for(std::min<Clock::duration>(timeout, time_left_before_interpreter_ends()));
  shutdown().waited += Clock::now() - begin;
  return time_left_before_interpreter_ends() > Clock::duration(0);
}

}  // namespace xpu
