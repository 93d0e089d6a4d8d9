#include "companion.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "opencl.h"

namespace xpu {
namespace {

class Companion {
 public:
  // Never deleted: the thread sleeps when the process ends.
  static Companion& of_all_streams() {
    static auto* companion = new Companion;
    return *companion;
  }

  void turn_to(StreamState& stream) {
    {
      std::lock_guard lock(mutex_);
      if (std::find(next_.begin(), next_.end(), &stream) == next_.end()) next_.push_back(&stream);
    }
    changed_.notify_one();
  }

 private:
  Companion() {
    std::thread([this] { run(); }).detach();
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !next_.empty(); });
      auto& stream = *next_.front();
      next_.pop_front();
      lock.unlock();
      compute(stream);
      lock.lock();
    }
  }

  static void compute(StreamState& stream) {
    std::lock_guard turn(stream.computing);
    auto* queue = stream.queue().native;
    if (queue) XPU_CL(clFinish)(queue);  // who waits for the work is told of its failure
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamState*> next_;
};

}  // namespace

bool compute_along(StreamState& stream) {
  if (!stream.queue().native) return false;
  try {
    Companion::of_all_streams().turn_to(stream);
    return true;
  } catch (const std::system_error&) {  // the process may have no more threads
    return false;
  }
}

}  // namespace xpu
