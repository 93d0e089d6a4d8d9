// Strict memory (XPU_STRICT_MEMORY=1): device memory that host code cannot touch, on the CPU device.
//
// Device allocations are pages of one reserved address range, closed to the whole process except while a
// Window is open: the runtime opens one around each submission, which in this mode also waits. Every
// allocation ends against a guard page that stays closed, and freed addresses are never used again. What
// touches closed memory dies with a message that names the allocation (strict_fault.h).
//
// What it cannot see: host code on another thread that touches device memory while a window is open.
#pragma once

#include <string_view>

#include "xpu/strict.h"

namespace xpu::strict {

/// Opens device memory for its scope; windows nest and may be open on many threads. Costs nothing when not
/// enabled.
class XPU_API Window {
 public:
  Window() : open_(enabled()) {
    if (open_) [[unlikely]]
      enter();
  }
  ~Window() {
    if (open_) [[unlikely]]
      leave();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  static void enter();
  static void leave() noexcept;

  bool open_;
};

/// Names the work of the thread's window, for the message should it fault.
XPU_API void note_kernel(std::string_view name);

}  // namespace xpu::strict
