// The process: its loaded libraries and its shutdown.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

/// Absolute paths of the loaded libraries whose file name starts with `prefix`.
XPU_API std::vector<std::string> loaded_libraries(const std::string& prefix);
/// The folder that the SYCL runtime, and so the vendor wheels' libraries, were loaded from.
XPU_API std::string vendor_folder();

/// Registers a function that shutdown calls after the last drain, in reverse order of registration. It is not
/// called if the drain times out or no device was used. Thread-safe.
XPU_API void at_shutdown(std::function<void()> action);
/// Blocks for at most `timeout` for all device work, and prints failures. Returns false if the caller should
/// call again, after a look at signals; true once the work has completed or XPU_EXIT_TIMEOUT is used up.
XPU_API bool drain_for(std::chrono::milliseconds timeout);
/// Sleeps for at most `timeout`, charged to XPU_EXIT_TIMEOUT; returns false if no time is left.
XPU_API bool wait_for_threads(std::chrono::milliseconds timeout);

/// Functions that threads other than the one that shuts down call. They are called from
/// begin_shutdown() on, also with locks of the runtime's held.
struct ShutdownHooks {
  void (*refuse)();  ///< before a device or its memory is used; throws, never returns, or lets them go on
  void (*park)() noexcept;  ///< after a wait for a device; may never return
};
/// Begins shutdown: every other thread calls `refuse` before it enqueues work. Never blocks.
XPU_API void begin_shutdown(ShutdownHooks hooks);
/// Call in functions that neither enqueue nor wait, such as queries: calls `refuse` during shutdown, and
/// throws DeviceError in a forked child.
XPU_API void require_thread_allowed();
/// The system's ids of the threads that wait for a device, or have used one within `window`. A thread that
/// ends after it was refused counts; one that was refused over and over does not. Thread-safe.
XPU_API std::vector<int> active_threads(std::chrono::milliseconds window);
/// Call in `refuse`, before it throws or blocks. Returns true if the calling thread was refused before.
XPU_API bool mark_thread_refused();

}  // namespace xpu
