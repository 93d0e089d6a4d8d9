#include "using_threads.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "startup.h"
#include "xpu/process.h"

namespace xpu {
namespace using_threads {
namespace {

struct Thread;
struct All {
  std::mutex mutex;
  std::vector<Thread*> threads;
};
// Never destroyed: threads end after static objects have.
All& all() {
  static auto* one = new All;
  return *one;
}

/// Of the kernel's last tick, a few milliseconds old: a tenth of what the exact time costs.
std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

struct Thread {
  int id = gettid();
  std::atomic<std::int64_t> last{0};
  std::atomic<int> refusals{0};
  std::atomic<int> waits{0};

  // After the first refusals it unwinds, which needs the interpreter and may be refused more; if it goes on,
  // it sleeps in each.
  bool at_work(std::int64_t since) const { return waits > 0 || (refusals <= 20 && last >= since); }

  Thread() {
    std::lock_guard lock(all().mutex);
    all().threads.push_back(this);
  }
  ~Thread() {
    std::lock_guard lock(all().mutex);
    std::erase(all().threads, this);
  }
};
thread_local Thread self;
std::atomic<void (*)() noexcept> park{nullptr};

}  // namespace

void note() {
  self.last.store(milliseconds_now(), std::memory_order_relaxed);
}

Wait::Wait() {
  ++self.waits;
}
Wait::~Wait() {
  note();
  --self.waits;
  if (auto* hook = park.load(std::memory_order_relaxed)) hook();
}
void set_park(void (*hook)() noexcept) {
  park = hook;
}

}  // namespace using_threads

std::vector<int> threads_at_work(std::chrono::milliseconds lately) {
  if (startup::unusable()) return {};  // a forked child has none of its parent's threads
  auto since = using_threads::milliseconds_now() - lately.count();
  auto& all = using_threads::all();
  std::vector<int> ids;
  std::lock_guard lock(all.mutex);
  for (auto* thread : all.threads)
    if (thread->at_work(since)) ids.push_back(thread->id);
  return ids;
}

bool note_refused_thread() {
  return using_threads::self.refusals++ > 0;
}

}  // namespace xpu
