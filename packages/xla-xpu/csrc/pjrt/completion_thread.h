// A thread that waits for one device and then runs callbacks.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace xla_xpu {

class CompletionEvent;

/// Starts its thread at the first add(). Thread-safe.
class CompletionThread {
 public:
  /// Waits for `event` on the thread, in the order of the calls. Blocks only after stop(): it then waits
  /// itself.
  void add(std::shared_ptr<CompletionEvent> event);
  /// Returns true if the callbacks of all added events have run. Never blocks.
  bool is_drained();
  /// Blocks until all added events are complete and the thread has ended.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<CompletionEvent>> events_;
  bool busy_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace xla_xpu
