#include "bridge/profiler_ops.h"

#include <unistd.h>

#include <sys/syscall.h>
#include <chrono>

namespace torch_xpu {

std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void RunningOps::begin(std::uint64_t op) {
  note(op);
}

void RunningOps::end() {
  note(0);
}

void RunningOps::note(std::uint64_t op) {
  thread_local const auto thread = static_cast<std::uint64_t>(syscall(SYS_gettid));
  Change change{steady_ns(), op};
  std::lock_guard lock(mutex_);
  changes_[thread].push_back(change);
}

std::uint64_t RunningOps::Finder::at(std::uint64_t thread, std::int64_t time) {
  auto found = ops_.changes_.find(thread);
  if (found == ops_.changes_.end()) return 0;
  auto& [next, open] = threads_[thread];
  for (auto& changes = found->second; next < changes.size() && changes[next].first <= time; ++next) {
    if (changes[next].second)
      open.push_back(changes[next].second);
    else if (!open.empty())
      open.pop_back();
  }
  return open.empty() ? 0 : open.back();
}

}  // namespace torch_xpu
