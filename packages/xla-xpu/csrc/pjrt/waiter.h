// The thread that waits for a device on behalf of those who asked to be called.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace xla_xpu {

class Moment;

/// Sleeps until there is something to wait for; starts its thread then.
class Waiter {
 public:
  /// Waits for `moment` in its turn. After stop() it does so before it returns.
  void add(std::shared_ptr<Moment> moment);
  /// Whether everything added has been waited for.
  bool is_drained();
  /// Waits for everything added, and ends the thread.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Moment>> moments_;
  bool busy_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace xla_xpu
