#include "compile/ahead/build_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "compile/ahead/forecast.h"
#include "compile/ahead/sample_programs.h"
#include "compile/claim.h"
#include "compile/compilers/build_service.h"
#include "compile/compilers/compiler.h"
#include "compile/stores/disk_cache.h"
#include "compile/stores/store.h"
#include "process/immortal.h"
#include "process/thread_registry.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::build_ahead {
namespace {

// How far ahead of the process. Measured on programs that are no samples: they use 60 % of the next 8 kernels
// that are forecast, and 50 % of the next 24.
constexpr std::size_t window = 12;
// For a process that wants something else than is forecast.
constexpr std::size_t max_builds = 256;

struct Task {
  int device;
  ReadyKey key;
};

class Ahead {
 public:
  void note_wanted(int device, const ReadyKey& key, bool must_build) {
    std::lock_guard lock(mutex_);
    if (left_ == 0 || (forecasts_.empty() && !must_build) || !is_cache_writable()) return;
    auto known = forecasts_.find(device);
    if (known == forecasts_.end()) known = forecasts_.emplace(device, sample_programs(device)).first;
    auto& forecast = known->second;
    forecast.add(key);
    auto next = forecast.after(key);
    if (next.empty()) return;
    std::erase_if(next, [&](auto& each) { return begun_.contains({device, each}); });
    expected_[device] = next.size();
    next.resize(std::min(next.size(), window));
    std::erase_if(tasks_, [&](auto& task) { return task.device == device; });
    for (auto& each : next) tasks_.push_back({device, each});
    if (!tasks_.empty()) start_threads();
    changed_.notify_all();
  }

  std::size_t expected(int device) {
    std::lock_guard lock(mutex_);
    auto found = expected_.find(device);
    return found == expected_.end() ? 0 : found->second;
  }

 private:
  void start_threads() {
    try {
      for (; threads_ < build_service::background_helpers(); ++threads_)
        std::thread([this] { run(); }).detach();
    } catch (const std::system_error&) {  // the process may have no more threads: it builds what it wants
      if (threads_ == 0) left_ = 0;
    }
  }

  [[noreturn]] void run() {
    thread_registry::mark_background();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !tasks_.empty() && left_ > 0; });
      auto task = tasks_.front();
      tasks_.pop_front();
      begun_.insert({task.device, task.key});
      --left_;
      lock.unlock();
      build(task);
      lock.lock();
    }
  }

  static void build(const Task& task) noexcept {
    try {
      if (is_cache_writable()) build_into_stores(task);
    } catch (const std::exception& e) {  // whoever wants the kernel meets the error
      log(LogLevel::debug, join("a kernel was not built ahead: ", e.what()));
    }
  }

  static void build_into_stores(const Task& task) {
    auto spirv = ready_spirv_store().find({Key::Kind::spirv, task.device, "", task.key});
    if (!spirv) return;
    auto input = spirv_input(task.device, std::move(spirv->bytes));
    auto key = native_key(input);
    auto claim = Claim::attempt(key.id);
    // If there is no claim, the process builds it itself.
    if (!claim || find_stored(key)) return;
    if (auto built = background_compiler().build(input))
      if (auto entry = native_entry(task.device, built->native)) store(key, *entry);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, Forecast> forecasts_;
  std::map<int, std::size_t> expected_;
  std::deque<Task> tasks_;
  std::set<std::pair<int, ReadyKey>> begun_;
  std::size_t threads_ = 0;
  std::size_t left_ = max_builds;
};

Ahead& ahead() {
  static auto& instance = leaked<Ahead>();
  return instance;
}

}  // namespace

void note_wanted(int device, const ReadyKey& key, bool must_build) {
  ahead().note_wanted(device, key, must_build);
}

std::size_t expected(int device) {
  return ahead().expected(device);
}

}  // namespace xpu::build_ahead
