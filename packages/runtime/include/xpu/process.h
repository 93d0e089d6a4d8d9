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
XPU_API void at_end(std::function<void()> action);
/// For one who is about to end the process and can do more meanwhile than its end can, such as look for
/// signals: waits about so long for the devices' work and reports what failed. False when it has to be called
/// again.
XPU_API bool end_soon(std::chrono::milliseconds most);
/// From now on every other thread that is about to queue work calls `hold` first, which need not return.
XPU_API void hold_threads(void (*hold)());
/// The system's ids of the threads that wait for work or queued some lately, and are not held.
XPU_API std::vector<int> threads_at_work(std::chrono::milliseconds lately);
/// For `hold` to call, when it will not return.
XPU_API void note_held_thread();

}  // namespace xpu
