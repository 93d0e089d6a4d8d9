#include "streams/drain_thread.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "devices/opencl.h"

namespace xpu {
namespace {

std::atomic<bool> has_drain_thread{false};

class DrainThread {
 public:
  static DrainThread& instance() {
    static auto& thread = *new DrainThread;  // never destroyed, like leaked(): its thread does not end
    return thread;
  }

  void enqueue(StreamState& stream) {
    {
      std::lock_guard lock(mutex_);
      if (std::find(pending_.begin(), pending_.end(), &stream) == pending_.end()) pending_.push_back(&stream);
    }
    changed_.notify_one();
  }
  void notify() {
    { std::lock_guard lock(mutex_); }
    changed_.notify_one();
  }

 private:
  DrainThread() {
    std::thread([this] { run(); }).detach();
  }

  // The thread skips streams that wait for the host: it would block in one, and drain no other.
  std::deque<StreamState*>::iterator drainable() {
    return std::find_if(pending_.begin(), pending_.end(), [](auto* s) { return s->host_signals == 0; });
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return drainable() != pending_.end(); });
      auto found = drainable();
      auto& stream = **found;
      pending_.erase(found);
      lock.unlock();
      drain(stream);
      lock.lock();
    }
  }

  static void drain(StreamState& stream) {
    std::lock_guard drain_lock(stream.drain_mutex);
    auto* queue = stream.queue().native;
    if (queue) XPU_CL(clFinish)(queue);  // waits of others throw what failed
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamState*> pending_;
};

}  // namespace

void notify_drain_thread() {
  if (has_drain_thread) DrainThread::instance().notify();
}

bool drain_in_background(StreamState& stream) {
  if (!stream.queue().native) return false;
  try {
    has_drain_thread = true;
    DrainThread::instance().enqueue(stream);
    return true;
  } catch (const std::system_error&) {  // the process may have no more threads
    return false;
  }
}

}  // namespace xpu
