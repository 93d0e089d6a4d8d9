// A point in time that work reaches: what JAX's futures and the plugin's buffers wait for.
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

class Moment : public std::enable_shared_from_this<Moment> {
 public:
  /// Gets null, or why the moment was not reached as it should have been.
  using Callback = std::function<void(const std::exception_ptr&)>;

  /// The end of everything queued on `stream` so far.
  static std::shared_ptr<Moment> on(xpu::Stream stream);
  /// One that has always been.
  static const std::shared_ptr<Moment>& past();
  /// One that comes when settle() is called.
  static std::shared_ptr<Moment> promised();

  /// Never blocks.
  bool reached();
  /// Blocks; throws what failed.
  void wait();
  /// Blocks until the moment is there, without throwing.
  void await() noexcept;
  /// Calls at once when the moment has been reached, else from the device's waiting thread.
  void then(Callback callback);
  /// Work queued on `stream` from now on comes after this moment.
  void before(xpu::Stream stream) const;
  /// Ends a promised moment.
  void settle(std::exception_ptr failure);

  xpu::Stream stream() const { return stream_; }

 private:
  bool reached_soon();
  /// Takes the outcome of an event that has been reached, or waits for it.
  void collect();
  /// Keeps the outcome; what is returned is to be called without a lock held.
  std::vector<Callback> close(std::exception_ptr failure);
  void call(const std::vector<Callback>& callbacks) const;

  xpu::Stream stream_;  // none: a promise
  xpu::Event event_;
  std::atomic<bool> settled_ = false;
  std::exception_ptr failure_;  // written before settled_
  std::mutex collecting_, listing_;
  std::vector<Callback> callbacks_;  // under listing_
};

}  // namespace xla_xpu
