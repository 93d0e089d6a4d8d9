// Records which operator runs on each thread at a time, while a profile is recorded.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_xpu {

/// PyTorch says when operators begin and end, on their threads; the device's records have thread and time.
class RunningOps {
 public:
  void begin(std::uint64_t op);
  void end();
  /// Finds the innermost operators of work that is asked for in the order of its host times.
  class Finder {
   public:
    explicit Finder(const RunningOps& ops) : ops_(ops) {}
    /// 0 when none was running.
    std::uint64_t at(std::uint64_t thread, std::int64_t time);

   private:
    struct Progress {
      std::size_t next = 0;
      std::vector<std::uint64_t> open;
    };
    const RunningOps& ops_;
    std::unordered_map<std::uint64_t, Progress> threads_;
  };

 private:
  // An end is an operator 0.
  using Change = std::pair<std::int64_t, std::uint64_t>;
  void note(std::uint64_t op);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<Change>> changes_;
};

std::int64_t steady_ns();

}  // namespace torch_xpu
