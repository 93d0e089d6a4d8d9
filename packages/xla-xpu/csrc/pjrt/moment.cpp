#include "pjrt/moment.h"

#include <chrono>
#include <utility>

#include "pjrt/platform.h"

namespace xla_xpu {
namespace {

// What waking another thread costs; what ends sooner is cheaper to wait for.
constexpr auto hand_over = std::chrono::microseconds(20);

}  // namespace

std::shared_ptr<Moment> Moment::on(xpu::Stream stream) {
  auto moment = std::make_shared<Moment>();
  moment->stream_ = stream;
  moment->event_.record(stream);
  return moment;
}

const std::shared_ptr<Moment>& Moment::past() {
  static const auto* moment = [] {
    auto made = std::make_shared<Moment>();
    made->settled_ = true;
    return new std::shared_ptr<Moment>(std::move(made));
  }();
  return *moment;
}

std::shared_ptr<Moment> Moment::promised() {
  return std::make_shared<Moment>();
}

bool Moment::reached() {
  if (settled_.load(std::memory_order_acquire)) return true;
  if (!stream_ || !event_.query()) return false;
  collect();
  return true;
}

void Moment::collect() {
  std::vector<Callback> callbacks;
  {
    // The runtime reports a fault once: nobody may find the event reached before its outcome is kept.
    std::lock_guard lock(collecting_);
    if (settled_.load(std::memory_order_acquire)) return;
    std::exception_ptr failure;
    try {
      event_.synchronize();
    } catch (...) {
      failure = std::current_exception();
    }
    callbacks = close(std::move(failure));
  }
  call(callbacks);
}

std::vector<Moment::Callback> Moment::close(std::exception_ptr failure) {
  std::lock_guard list(listing_);
  failure_ = std::move(failure);
  settled_.store(true, std::memory_order_release);
  return std::exchange(callbacks_, {});
}

void Moment::settle(std::exception_ptr failure) {
  auto callbacks = close(std::move(failure));
  settled_.notify_all();
  call(callbacks);
}

void Moment::call(const std::vector<Callback>& callbacks) const {
  for (auto& callback : callbacks) callback(failure_);
}

void Moment::await() noexcept {
  if (stream_)
    collect();
  else
    settled_.wait(false, std::memory_order_acquire);
}

void Moment::wait() {
  await();
  if (failure_) std::rethrow_exception(failure_);
}

bool Moment::reached_soon() {
  if (!stream_) return reached();
  auto last = std::chrono::steady_clock::now() + hand_over;
  while (!reached())
    if (std::chrono::steady_clock::now() > last) return false;
  return true;
}

void Moment::then(Callback callback) {
  if (!reached_soon()) {
    std::unique_lock list(listing_);
    if (!settled_.load(std::memory_order_acquire)) {
      callbacks_.push_back(std::move(callback));
      bool first = callbacks_.size() == 1;
      list.unlock();
      if (first && stream_) Platform::get().waiter(stream_.device()).add(shared_from_this());
      return;
    }
  }
  callback(failure_);
}

void Moment::before(xpu::Stream stream) const {
  if (stream_ && stream_ != stream && !settled_.load(std::memory_order_acquire)) stream.wait(event_);
}

}  // namespace xla_xpu
