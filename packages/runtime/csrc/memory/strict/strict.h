// Strict memory (XPU_STRICT_MEMORY=1): device memory that host code cannot touch, on the CPU device.
//
// Device allocations are pages of one reserved address range, closed to the whole process except while an
// AccessGuard is alive: the runtime holds one around each submission, which in this mode also waits. Every
// allocation ends against a guard page that stays closed, and freed addresses are never used again. An access
// to closed memory ends the process with a message that names the allocation (fault.h).
//
// It does not find host code on another thread that touches device memory while an AccessGuard is alive.
#pragma once

#include <string_view>

#include "xpu/strict.h"

namespace xpu::strict {

/// Opens device memory for its scope. Guards nest, and many threads may hold one. Costs nothing if strict
/// memory is disabled.
class XPU_API AccessGuard {
 public:
  AccessGuard() : open_(enabled()) {
    if (open_) [[unlikely]]
      enter();
  }
  ~AccessGuard() {
    if (open_) [[unlikely]]
      leave();
  }
  AccessGuard(const AccessGuard&) = delete;
  AccessGuard& operator=(const AccessGuard&) = delete;

 private:
  static void enter();
  static void leave() noexcept;

  bool open_;
};

/// Names the work in the calling thread's AccessGuard, for the message if it faults.
XPU_API void set_kernel_name(std::string_view name);

}  // namespace xpu::strict
