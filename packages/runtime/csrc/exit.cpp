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
#include "graph/gate.h"
#include "startup.h"
#include "stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/graph.h"
#include "xpu/process.h"

namespace xpu {
namespace exit {
namespace {

using Clock = std::chrono::steady_clock;
class Waiting;
std::atomic<void (*)()> hold_thread{nullptr};
constexpr auto patience = std::chrono::seconds(5);  // before it is said what the end waits for

struct Ending {
  std::mutex mutex;
  std::vector<std::function<void()>> actions;
  unsigned long long libraries = 0;              ///< loaded so far, when the wait was registered last
  std::optional<Clock::time_point> first, last;  ///< when the end began to wait, and when it waits no longer
  std::shared_ptr<Waiting> waiting;
  bool told = false, failed = false;
};
Ending& ending() {
  static auto* one = new Ending;
  return *one;
}

void say(const std::string& text) noexcept {
  std::fprintf(stderr, "xpu_runtime: %s\n", text.c_str());
}

template <class Work>
void reported(Work&& work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    ending().failed = true;
    say(join("work that was queued when the process ended failed: ", e.what()));
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
class Waiting {
 public:
  Waiting() : state_(std::make_shared<State>()) {
    auto events = std::make_shared<std::vector<Event>>();
    for (int device = 0; device < device_count(); ++device)
      for (Stream stream : live_streams(device))
        if (!is_capturing(stream)) reported([&] { events->emplace_back().record(stream); });
    std::thread([state = state_, events] {
      for (auto& event : *events) reported([&] { event.synchronize(); });
      std::lock_guard lock(state->mutex);
      state->ended = true;
      state->changed.notify_all();
    }).detach();
  }
  bool ended_before(Clock::time_point time) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_until(lock, time, [&] { return state_->ended; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
  };

  std::shared_ptr<State> state_;
};

Clock::time_point last_moment() {
  std::lock_guard lock(ending().mutex);
  auto& all = ending();
  if (!all.first) {
    all.first = Clock::now();
    all.last = *all.first + std::chrono::seconds(env::number("XPU_EXIT_SECONDS", 60));
  }
  return *all.last;
}

void tell_once() {
  std::lock_guard lock(ending().mutex);
  if (Clock::now() - *ending().first < patience || std::exchange(ending().told, true)) return;
  say("the process ends when the work queued on its devices has (XPU_EXIT_SECONDS bounds the wait)");
}

void report_failures() noexcept {
  for (int device = 0; device < device_count(); ++device) reported([&] { throw_pending(device); });
}

// A thread that lives on may be between its check and its submission: it holds the stream's order then.
void finish_streams() {
  startup::mark_ended();
  for (int device = 0; device < device_count(); ++device) {
    for (Stream stream : live_streams(device)) {
      { std::lock_guard order(stream.state()->order); }
      if (!is_capturing(stream)) reported([&] { stream.synchronize(); });
    }
  }
}

void run_actions() {
  auto& all = ending().actions;
  while (!all.empty()) {
    auto action = std::move(all.back());
    all.pop_back();
    action();
  }
}

/// Goes on with a wait that was given up before.
bool wait_for_devices(Clock::time_point until) {
  auto& waiting = ending().waiting;
  if (!waiting) waiting = std::make_shared<Waiting>();
  if (!waiting->ended_before(until)) return false;
  waiting.reset();
  return true;
}

bool wait_and_tell(Clock::time_point until) {
  if (wait_for_devices(std::min(until, *ending().first + patience))) return true;
  tell_once();
  return wait_for_devices(until);
}

// Runs once, whoever comes first.
void end_work() {
  if (startup::unusable() || !startup::initialized()) return;
  if (!wait_and_tell(last_moment())) {
    say("the device's work has not ended in time; the process ends without it");
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  }
  finish_streams();
  report_failures();
  run_actions();
}

void end(int status, void*) {
  end_work();
  // glibc goes on with what else is registered, and the process ends with this status.
  if (status == EXIT_SUCCESS && std::exchange(ending().failed, false)) std::exit(EXIT_FAILURE);
}

/// The first that exit() does is to take down what the calling thread has for itself. Static objects that a
/// vendor's library makes late, in the midst of its work, are taken down after that, but before what was
/// registered earlier.
struct EndOfThread {
  bool main = false;
  ~EndOfThread() {
    if (main) end_work();
  }
};
thread_local EndOfThread end_of_thread;

bool is_main_thread() {
  return gettid() == getpid();
}

// Whoever loads this library is the main thread, as a rule.
const bool loaded = end_of_thread.main = is_main_thread();

}  // namespace

void wait_before_loaded_libraries() {
  end_of_thread.main = is_main_thread();
  std::lock_guard lock(ending().mutex);
  auto now = libraries_loaded();
  if (std::exchange(ending().libraries, now) != now) on_exit(end, nullptr);
}

}  // namespace exit

void at_end(std::function<void()> action) {
  std::lock_guard lock(exit::ending().mutex);
  exit::ending().actions.push_back(std::move(action));
}

void hold_threads(void (*hold)()) {
  exit::hold_thread = hold;
  startup::mark_ending([] {
    if (auto* gate = closed_gate()) gate->open();  // what it queued so far has to run
    exit::hold_thread.load()();
  });
}

bool end_soon(std::chrono::milliseconds most) {
  using namespace exit;
  if (startup::unusable() || !startup::initialized()) return true;
  auto until = last_moment();
  bool ended = wait_for_devices(std::min(until, Clock::now() + most));
  if (ended)
    report_failures();
  else
    tell_once();
  return ended || Clock::now() >= until;
}

}  // namespace xpu
