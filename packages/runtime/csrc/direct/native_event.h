// Reference-counted cl_event of work that bypassed SYCL.
#pragma once

#include <CL/cl.h>

#include <chrono>
#include <utility>

#include "xpu/sycl_fwd.h"

namespace xpu::direct {

/// May be empty. Copies share the cl_event; the other functions require one.
class NativeEvent {
 public:
  NativeEvent() = default;
  /// Takes ownership of one reference.
  explicit NativeEvent(cl_event event) : event_(event) {}
  ~NativeEvent();
  NativeEvent(const NativeEvent& other);
  NativeEvent(NativeEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  NativeEvent& operator=(NativeEvent other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  /// Returns an event that completes when all work now pending on the queue has.
  static NativeEvent record(cl_command_queue queue);
  explicit operator bool() const { return event_ != nullptr; }

  /// Never blocks. True also for failed work.
  bool is_complete() const;
  /// Blocks, asleep: OpenCL's own wait would compute, and also what was enqueued later (see drain_thread.h).
  /// Throws DeviceError for failed work.
  void wait() const;
  /// Blocks, and computes meanwhile. Ignores failures.
  void wait_computing() const noexcept;
  /// Blocks for at most `timeout`; returns true if the event has completed.
  bool wait_for(std::chrono::milliseconds timeout) const;
  sycl::event as_sycl(const sycl::context& context) const;
  /// Completes an event that was made with clCreateUserEvent().
  void set_complete() const noexcept;

 private:
  cl_event event_ = nullptr;
};

}  // namespace xpu::direct
