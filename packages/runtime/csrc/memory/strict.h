// Strict memory: host code that touches device memory dies, naming the allocation.
#pragma once

#include <string_view>

namespace xpu::strict {

/// XPU_STRICT_MEMORY=1.
bool enabled();

/// Device memory may be used by the device, and by copies, while a window is open.
class Window {
 public:
  Window() {
    if (enabled()) [[unlikely]]
      open();
  }
  ~Window() {
    if (enabled()) [[unlikely]]
      close();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  static void open();
  static void close() noexcept;
};

/// What runs now, for the message when a kernel leaves its allocation.
void note_kernel(std::string_view name);

}  // namespace xpu::strict
