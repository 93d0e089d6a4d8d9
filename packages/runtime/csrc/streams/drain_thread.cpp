#include "streams/drain_thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "xpu/error.h"

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
      auto found = pending_.end();
      // Signals change beside the mutex, so each look may find another stream or none.
      changed_.wait(lock, [&] { return (found = drainable()) != pending_.end(); });
      auto& stream = **found;
      pending_.erase(found);
      lock.unlock();
      bool is_drained = drain(stream);
      lock.lock();
      if (!is_drained) pending_.push_back(&stream);
    }
  }

  // Computes until the work that the stream has now is complete; waits of others throw what failed. Returns
  // false for a stream that by now waits for the host.
  static bool drain(StreamState& stream) {
    auto* queue = stream.queue().native;
    if (!queue) return true;
    std::unique_lock drain_lock(stream.drain_mutex, std::defer_lock);
    while (!drain_lock.try_lock()) {
      if (stream.host_signals != 0) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    direct::NativeEvent end;
    {
      // A signal that blocks the stream from now on comes after the event.
      std::lock_guard enqueue_lock(stream.enqueue_mutex);
      if (stream.host_signals != 0) return false;
      try {
        end = direct::NativeEvent::record(queue);
      } catch (const DeviceError&) {
        return true;  // the queue is unusable, which others find out
      }
    }
    end.wait_computing();
    return true;
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
