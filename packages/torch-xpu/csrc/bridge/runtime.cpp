#include "bridge/runtime.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bridge/device_library.h"
#include "bridge/interpreter.h"

namespace torch_xpu {
namespace {

std::atomic<Runtime*> loaded{nullptr};
thread_local int chosen_early = 0;  // the thread's device before there is a runtime to keep it

// Two threads may both come here: the import lock of Python, or that of dlopen(), lets one do the work.
Runtime& load() {
  auto* python = interpreter();
  auto& found = python ? python->load_runtime() : load_device_library();
  if (!loaded.exchange(&found, std::memory_order_release)) profile_loaded_runtime();
  return found;
}

// Render nodes times the tiles of the largest card, or what the CPU device is divided into.
int device_bound() {
  int nodes = 0;
  std::error_code error;
  for (auto& entry : std::filesystem::directory_iterator("/dev/dri", error))
    nodes += entry.path().filename().string().starts_with("renderD");
  const char* parts = std::getenv("XPU_CPU_DEVICES");
  return std::max({1, 2 * nodes, parts ? std::atoi(parts) : 0});
}

}  // namespace

Runtime* runtime_if_loaded() noexcept {
  return loaded.load(std::memory_order_acquire);
}

Runtime& runtime() {
  auto* found = runtime_if_loaded();
  return found ? *found : load();
}

int max_device_count() noexcept {
  static const int bound = device_bound();
  auto* found = runtime_if_loaded();
  return found ? found->device_count() : bound;
}

int current_device() noexcept {
  auto* found = runtime_if_loaded();
  if (!found) return chosen_early;
  if (chosen_early) [[unlikely]]
    found->set_current_device(std::exchange(chosen_early, 0));
  return found->current_device();
}

int exchange_device(int device) {
  int before = current_device();
  if (device == before) return before;
  if (auto* found = runtime_if_loaded()) {
    int count = found->device_count();
    TORCH_CHECK(device >= 0 && device < count, "xpu:", device, " is not a device: the process has ", count);
  }
  set_device_unchecked(device);
  return before;
}

void set_device_unchecked(int device) noexcept {
  if (auto* found = runtime_if_loaded())
    found->set_current_device(device);
  else
    chosen_early = device;
}

}  // namespace torch_xpu
