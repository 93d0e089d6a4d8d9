#include "process/thread_registry.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "process/immortal.h"
#include "process/startup.h"
#include "xpu/process.h"

namespace xpu {
namespace thread_registry {
namespace {

struct Thread;
struct Registry {
  std::mutex mutex;
  std::vector<Thread*> threads;
};
Registry& registry() {
  static auto& instance = leaked<Registry>();
  return instance;
}

/// The time of the system's last tick, a few milliseconds old. Costs a tenth of the exact time.
std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

struct Thread {
  int id = gettid();
  std::atomic<std::int64_t> last_activity{0};  ///< in milliseconds_now()
  std::atomic<int> refusals{0};
  std::atomic<int> waits{0};
  std::atomic<bool> is_background{false};

  // A refused thread unwinds, which needs the interpreter and may be refused again. A thread that is refused
  // more often does not unwind, and sleeps in each refusal.
  bool is_active(std::int64_t since) const {
    return !is_background && (waits > 0 || (refusals <= 20 && last_activity >= since));
  }

  Thread() {
    std::lock_guard lock(registry().mutex);
    registry().threads.push_back(this);
  }
  ~Thread() {
    std::lock_guard lock(registry().mutex);
    std::erase(registry().threads, this);
  }
};
thread_local Thread self;
std::atomic<void (*)() noexcept> park{nullptr};

}  // namespace

void record_activity() {
  self.last_activity.store(milliseconds_now(), std::memory_order_relaxed);
}

void mark_background() {
  self.is_background = true;
}

BlockingScope::BlockingScope() {
  ++self.waits;
}
BlockingScope::~BlockingScope() {
  record_activity();
  --self.waits;
  if (auto* hook = park.load(std::memory_order_relaxed)) hook();
}
void set_park(void (*hook)() noexcept) {
  park = hook;
}

}  // namespace thread_registry

std::vector<int> active_threads(std::chrono::milliseconds window) {
  if (startup::is_forked_or_shut_down()) return {};  // a forked child has none of its parent's threads
  auto since = thread_registry::milliseconds_now() - window.count();
  auto& registry = thread_registry::registry();
  std::vector<int> ids;
  std::lock_guard lock(registry.mutex);
  for (auto* thread : registry.threads)
    if (thread->is_active(since)) ids.push_back(thread->id);
  return ids;
}

bool mark_thread_refused() {
  return thread_registry::self.refusals++ > 0;
}

}  // namespace xpu
