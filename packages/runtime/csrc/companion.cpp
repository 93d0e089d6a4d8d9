#include "companion.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

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
      next_ = &stream;
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
      changed_.wait(lock, [this] { return next_ != nullptr; });
      auto& stream = *std::exchange(next_, nullptr);
      lock.unlock();
      compute(stream);
      lock.lock();
    }
  }

  static void compute(StreamState& stream) {
    std::lock_guard turn(stream.computing);
    cl_command_queue queue;
    {
      std::lock_guard order(stream.order);  // its queue may be given another
      queue = stream.below;
      if (!queue) return;
      XPU_CL(clRetainCommandQueue)(queue);
    }
    XPU_CL(clFinish)(queue);  // who waits for the work is told of its failure
    XPU_CL(clReleaseCommandQueue)(queue);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  StreamState* next_ = nullptr;
};

}  // namespace

void compute_along(StreamState& stream) {
  Companion::of_all_streams().turn_to(stream);
}

}  // namespace xpu
