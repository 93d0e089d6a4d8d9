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
thread_local int device_of_thread = 0;

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

int most_devices() noexcept {
  static const int bound = device_bound();
  auto* found = runtime_if_loaded();
  return found ? found->device_count() : bound;
}

int current_device() noexcept {
  return device_of_thread;
}

int exchange_device(int device) {
  if (auto* found = runtime_if_loaded(); found && device != device_of_thread) {
    int count = found->device_count();
    TORCH_CHECK(device >= 0 && device < count, "xpu:", device, " is not a device: the process has ", count);
  }
  return std::exchange(device_of_thread, device);
}

void set_device_unchecked(int device) noexcept {
  device_of_thread = device;
}

}  // namespace torch_xpu
