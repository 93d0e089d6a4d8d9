// The end of a piece of work that OpenCL knows of and SYCL does not.
#pragma once

#include <CL/cl.h>

#include <chrono>
#include <utility>

#include "xpu/sycl_fwd.h"

namespace xpu::direct {

class Mark {
 public:
  Mark() = default;
  /// Takes the reference over.
  explicit Mark(cl_event event) : event_(event) {}
  ~Mark();
  Mark(const Mark& other);
  Mark(Mark&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Mark& operator=(Mark other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  /// Of all that is queued so far.
  static Mark behind(cl_command_queue queue);
  explicit operator bool() const { return event_ != nullptr; }

  bool reached() const;
  /// Sleep. OpenCL's own wait computes along, and with what was queued after this too: see companion.h.
  void wait() const;
  /// At most so long; true when it is reached.
  bool wait_for(std::chrono::milliseconds most) const;
  sycl::event as_sycl(const sycl::context& context) const;

 private:
  cl_event event_ = nullptr;
};

}  // namespace xpu::direct
