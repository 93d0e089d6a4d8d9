// Future for device work; JAX events and buffers wait on it. Thread-safe.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "xpu/event.h"
#include "xpu/stream.h"

namespace xla_xpu {

class CompletionEvent : public std::enable_shared_from_this<CompletionEvent> {
 public:
  /// Gets null if the work succeeded, otherwise its error.
  using Callback = std::function<void(const std::exception_ptr&)>;

  /// Returns an event that completes after everything now pending on `stream`.
  static std::shared_ptr<CompletionEvent> record(xpu::Stream stream);
  /// Returns an event that is already complete, without error.
  static const std::shared_ptr<CompletionEvent>& completed();
  /// Returns an event that completes when complete() is called.
  static std::shared_ptr<CompletionEvent> pending();

  /// Never blocks.
  bool is_complete();
  /// Blocks; throws the error of the work.
  void wait();
  /// Blocks as wait() does, and throws nothing.
  void wait_noexcept() noexcept;
  /// Calls `callback` at once if the event is complete, otherwise on the device's CompletionThread.
  void then(Callback callback);
  /// Orders work enqueued on `stream` from now on after this event. Never blocks; does nothing for a
  /// pending() event.
  void order_before(xpu::Stream stream) const;
  /// Completes a pending() event and runs its callbacks.
  void complete(std::exception_ptr failure);

  xpu::Stream stream() const { return stream_; }

 private:
  /// Polls for about as long as it takes to wake another thread.
  bool poll_briefly();
  /// Waits for the recorded event and stores its outcome.
  void collect();
  /// Stores the outcome and returns the callbacks, which the caller runs without holding a lock.
  std::vector<Callback> set_outcome(std::exception_ptr failure);
  void call(const std::vector<Callback>& callbacks) const;

  xpu::Stream stream_;  // none: a pending() event
  xpu::Event event_;
  std::atomic<bool> is_complete_ = false;
  std::exception_ptr failure_;  // written before is_complete_
  std::mutex collect_mutex_, callbacks_mutex_;
  std::vector<Callback> callbacks_;  // under callbacks_mutex_
};

}  // namespace xla_xpu
