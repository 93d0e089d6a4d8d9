#include "pjrt/waiter.h"

#include "pjrt/moment.h"

namespace xla_xpu {

void Waiter::add(std::shared_ptr<Moment> moment) {
  {
    std::lock_guard lock(mutex_);
    if (!stopped_) {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
      moments_.push_back(std::move(moment));
    }
  }
  if (moment)
    moment->await();
  else
    changed_.notify_all();
}

void Waiter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !moments_.empty() || stopped_; });
    if (moments_.empty()) return;
    auto moment = std::move(moments_.front());
    moments_.pop_front();
    busy_ = true;
    lock.unlock();
    moment->await();
    moment.reset();  // may free what the moment's callbacks held
    lock.lock();
    busy_ = false;
  }
}

bool Waiter::is_drained() {
  std::lock_guard lock(mutex_);
  return moments_.empty() && !busy_;
}

void Waiter::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace xla_xpu
