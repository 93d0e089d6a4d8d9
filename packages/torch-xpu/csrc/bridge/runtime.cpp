#include "bridge/runtime.h"

#include <Python.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace torch_xpu {
namespace {

std::atomic<Runtime*> loaded{nullptr};
thread_local int chosen_early = 0;  // the thread's device before there is a runtime to keep it

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

std::string python_error() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string message = bytes ? bytes : "unknown error";
  for (auto* object : {type, value, trace, text}) Py_XDECREF(object);
  return message;
}

// Two threads may both come here: the interpreter's import lock lets one of them do the work.
Runtime& load() {
  Gil gil;
  PyObject* module = PyImport_ImportModule("torch_xpu._device");
  TORCH_CHECK(module, "the xpu runtime cannot be loaded: ", python_error(),
              ". Run `xpu-sdk doctor` to see which layer is at fault.");
  Py_DECREF(module);
  auto* found = static_cast<Runtime*>(PyCapsule_Import("torch_xpu._device.runtime", 0));
  TORCH_CHECK(found, "torch_xpu._device holds no runtime: ", python_error());
  if (!loaded.exchange(found, std::memory_order_release)) profile_loaded_runtime();
  return *found;
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
