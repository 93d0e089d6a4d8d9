// What is loaded in this process and where from.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

/// Absolute paths of the loaded libraries whose file name starts with `prefix`.
XPU_API std::vector<std::string> loaded_libraries(const std::string& prefix);
/// The folder the SYCL runtime, and so the vendor wheels' libraries, were loaded from.
XPU_API std::string vendor_folder();

/// Has `action` called at the end of the process, when the devices' work has ended; the last one given first.
XPU_API void at_shutdown(std::function<void()> action);
/// Waits at most `timeout` for the devices' work and prints what of it failed. Returns false if the caller,
/// who can look for signals in between, has to call again: until the work is done, or XPU_EXIT_TIMEOUT is
/// used up.
XPU_API bool drain_for(std::chrono::milliseconds timeout);
/// Sleeps, in the time that XPU_EXIT_TIMEOUT leaves; returns false if none is left.
XPU_API bool wait_for_threads(std::chrono::milliseconds timeout);

/// What threads other than the one that ends the process call.
struct ShutdownHooks {
  void (*refuse)();         ///< before they use a device or its memory; throws, does not return, or lets them
  void (*park)() noexcept;  ///< after they have waited for one; need not return
};
XPU_API void begin_shutdown(ShutdownHooks hooks);
/// For calls that neither enqueue nor wait, such as queries: calls `refuse` where the thread's work is
/// refused.
XPU_API void require_thread_allowed();
/// The system's ids of the threads that wait for a device, or used one lately and do not go on though
/// refused.
XPU_API std::vector<int> active_threads(std::chrono::milliseconds lately);
/// For `refuse` to call before it throws or does not return. Returns true if it is not the first time.
XPU_API bool mark_thread_refused();

}  // namespace xpu
