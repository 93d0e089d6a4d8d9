#include "pjrt/completion_thread.h"

#include "pjrt/completion_event.h"

namespace xla_xpu {

void CompletionThread::add(std::shared_ptr<CompletionEvent> event) {
  {
    std::lock_guard lock(mutex_);
    if (!stopped_) {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
      events_.push_back(std::move(event));
    }
  }
  if (event)
    event->wait_noexcept();
  else
    changed_.notify_all();
}

void CompletionThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !events_.empty() || stopped_; });
    if (events_.empty()) return;
    auto event = std::move(events_.front());
    events_.pop_front();
    busy_ = true;
    lock.unlock();
    event->wait_noexcept();
    event.reset();  // may free memory that the event's callbacks own
    lock.lock();
    busy_ = false;
  }
}

bool CompletionThread::is_drained() {
  std::lock_guard lock(mutex_);
  return events_.empty() && !busy_;
}

void CompletionThread::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace xla_xpu
