#include "pjrt/completion_event.h"

#include <chrono>
#include <utility>

#include "pjrt/platform.h"

namespace xla_xpu {
namespace {

// Waking another thread takes this long, so polling is cheaper for work that completes sooner.
constexpr auto thread_wake_time = std::chrono::microseconds(20);

}  // namespace

std::shared_ptr<CompletionEvent> CompletionEvent::record(xpu::Stream stream) {
  auto event = std::make_shared<CompletionEvent>();
  event->stream_ = stream;
  event->event_.record(stream);
  return event;
}

const std::shared_ptr<CompletionEvent>& CompletionEvent::completed() {
  static const auto* event = [] {
    auto completed = std::make_shared<CompletionEvent>();
    completed->is_complete_ = true;
    return new std::shared_ptr<CompletionEvent>(std::move(completed));
  }();
  return *event;
}

std::shared_ptr<CompletionEvent> CompletionEvent::pending() {
  return std::make_shared<CompletionEvent>();
}

bool CompletionEvent::is_complete() {
  if (is_complete_.load(std::memory_order_acquire)) return true;
  if (!stream_ || !event_.query()) return false;
  collect();
  return true;
}

void CompletionEvent::collect() {
  std::vector<Callback> callbacks;
  {
    // The runtime reports a fault once: no thread may see the event complete before its outcome is stored.
    std::lock_guard lock(collect_mutex_);
    if (is_complete_.load(std::memory_order_acquire)) return;
    std::exception_ptr failure;
    try {
      event_.synchronize();
    } catch (...) {
      failure = std::current_exception();
    }
    callbacks = set_outcome(std::move(failure));
  }
  call(callbacks);
}

std::vector<CompletionEvent::Callback> CompletionEvent::set_outcome(std::exception_ptr failure) {
  std::lock_guard list(callbacks_mutex_);
  failure_ = std::move(failure);
  is_complete_.store(true, std::memory_order_release);
  return std::exchange(callbacks_, {});
}

void CompletionEvent::complete(std::exception_ptr failure) {
  auto callbacks = set_outcome(std::move(failure));
  is_complete_.notify_all();
  call(callbacks);
}

void CompletionEvent::call(const std::vector<Callback>& callbacks) const {
  for (auto& callback : callbacks) callback(failure_);
}

void CompletionEvent::wait_noexcept() noexcept {
  if (stream_)
    collect();
  else
    is_complete_.wait(false, std::memory_order_acquire);
}

void CompletionEvent::wait() {
  wait_noexcept();
  if (failure_) std::rethrow_exception(failure_);
}

bool CompletionEvent::poll_briefly() {
  if (!stream_) return is_complete();
  auto deadline = std::chrono::steady_clock::now() + thread_wake_time;
  while (!is_complete())
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

void CompletionEvent::then(Callback callback) {
  if (!poll_briefly()) {
    std::unique_lock list(callbacks_mutex_);
    if (!is_complete_.load(std::memory_order_acquire)) {
      callbacks_.push_back(std::move(callback));
      bool first = callbacks_.size() == 1;
      list.unlock();
      if (first && stream_) Platform::get().completion_thread(stream_.device()).add(shared_from_this());
      return;
    }
  }
  callback(failure_);
}

void CompletionEvent::order_before(xpu::Stream stream) const {
  if (stream_ && stream_ != stream && !is_complete_.load(std::memory_order_acquire)) stream.wait(event_);
}

}  // namespace xla_xpu
