#include "pjrt/platform.h"

#include <unistd.h>

#include <algorithm>

#include "pjrt/entry.h"
#include "xpu/device.h"
#include "xpu/process.h"

namespace xla_xpu {

Platform& Platform::get() {
  static auto* platform = new Platform;
  return *platform;
}

Platform::Platform() : process_(getpid()) {
  int count = xpu::device_count();
  if (!count)
    fail_with_code(PJRT_Error_Code_NOT_FOUND,
                   "xpu: SYCL finds no device on this machine; run `xpu-sdk doctor` for the reason");
  for (int i = 0; i < count; ++i) completion_threads_.push_back(std::make_unique<CompletionThread>());
  const auto& first = xpu::device_info(0);
  version_ =
      xpu::join("PJRT ", PJRT_API_MAJOR, ".", PJRT_API_MINOR, ", ", first.backend, " ", first.driver_version);
  // Threads must not be inside the vendor libraries when those are torn down.
  xpu::at_shutdown([] { get().stop(); });
}

bool Platform::is_drained() {
  if (getpid() != process_) return true;  // threads do not survive fork
  return std::ranges::all_of(completion_threads_, [](auto& thread) { return thread->is_drained(); });
}

void Platform::stop() {
  if (getpid() != process_) return;
  for (auto& thread : completion_threads_) thread->stop();
}

}  // namespace xla_xpu
