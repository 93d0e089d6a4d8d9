#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bindings.h"
#include "compile/cpu_features.h"
#include "compile/stores/disk_cache.h"
#include "process/startup.h"
#include "xpu/cache.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/interrupt.h"
#include "xpu/process.h"

namespace xpu::bindings {

namespace {

// The interpreter runs signal handlers on the main thread only.
void check_signals() {
  if (!Py_IsInitialized()) return;
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals()) throw py::error_already_set();
}

// PyOS_InterruptOccurred() clears the interrupt, so it is set again.
bool is_interrupt_pending() {
  if (!Py_IsInitialized()) return false;
  py::gil_scoped_acquire gil;
  if (!PyOS_InterruptOccurred()) return false;
  PyErr_SetInterrupt();
  return true;
}

bool is_interpreter_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

bool is_main_thread() {
  return gettid() == getpid();
}

std::vector<int> other_threads() {
  std::vector<int> ids;
  for (auto thread : py::module_::import("threading").attr("enumerate")()) {
    auto id = thread.attr("native_id");
    if (!id.is_none() && id.cast<int>() != gettid()) ids.push_back(id.cast<int>());
  }
  return ids;
}

/// Python's other threads when the shutdown began. A finalized interpreter no longer lists them.
std::vector<int>& threads_at_shutdown() {
  static auto* ids = new std::vector<int>;
  return *ids;
}

// A finalized interpreter ends every thread that returns to it, and with C++ frames on the stack that ends
// the process. So such threads block here for ever; nothing waits for them. The main thread finalizes the
// interpreter and must not block.
void park_if_finalizing() noexcept {
  bool has_ended = !Py_IsInitialized();
  if (is_main_thread() || (!has_ended && !is_interpreter_finalizing())) return;
  auto& threads = threads_at_shutdown();
  bool is_python = has_ended ? std::ranges::find(threads, gettid()) != threads.end()
                             : PyGILState_GetThisThreadState() != nullptr;
  while (is_python) pause();
}

// While the interpreter runs, an exception ends the thread, which other atexit functions may wait for. A
// thread that catches it is slowed down until the interpreter is finalized.
void refuse_thread() {
  if (!PyGILState_GetThisThreadState()) return;  // not a thread of Python's
  park_if_finalizing();
  // A thread that holds the GIL must not release it here: it may be in a destructor, and the finalizing
  // interpreter would end it there.
  if (mark_thread_refused() && !PyGILState_Check()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    park_if_finalizing();
  }
  fail<ShuttingDown>(startup::refusal, " of this thread");
}

// True if another thread of Python's uses a device and may return to the interpreter.
bool has_active_threads() {
  auto active = active_threads(std::chrono::seconds(1));
  std::erase(active, gettid());
  auto is_active = [&](int id) { return std::ranges::find(active, id) != active.end(); };
  // A thread that Python no longer lists still destroys its thread-local objects, such as graphs.
  return std::ranges::any_of(threads_at_shutdown(), is_active) ||
         (!active.empty() && std::ranges::any_of(other_threads(), is_active));
}

}  // namespace

void bind_startup(py::module_& m) {
  set_interrupt_hooks({check_signals, is_interrupt_pending});
  m.def(
      "drain_for", [](int milliseconds) { return drain_for(std::chrono::milliseconds(milliseconds)); },
      py::arg("milliseconds"), "Wait for the devices' work. False if it must be called again.",
      py::call_guard<py::gil_scoped_release>());
  m.def(
      "begin_shutdown",
      [] {
        threads_at_shutdown() = other_threads();
        begin_shutdown({refuse_thread, park_if_finalizing});
      },
      "From now on, refuse the work of other threads.");
  m.def("has_active_threads", &has_active_threads, "True if other threads use a device.");
  m.def(
      "wait_for_threads",
      [](int milliseconds) { return wait_for_threads(std::chrono::milliseconds(milliseconds)); },
      py::arg("milliseconds"), "Sleep. False if no time of XPU_EXIT_TIMEOUT is left.",
      py::call_guard<py::gil_scoped_release>());
  m.attr("refusal") = startup::refusal;
  m.attr("abi_version") = XPU_RUNTIME_ABI;
  m.def("is_initialized", &is_initialized, "True once the device stack has been used in this process.");
  m.def("generic_backend", &generic_backend, "True when only plain SYCL is used.", Unlocked());
  m.def("loaded_libraries", &loaded_libraries, py::arg("prefix"),
        "Paths of loaded libraries by file name prefix.");
  m.def("vendor_folder", &vendor_folder, "The folder the SYCL runtime was loaded from.");
  m.def("cpu_feature_digits", &cpu_feature_digits, "Digits that differ for CPUs with other instructions.");
  m.def("cache_folder", &cache_folder, "The folder of cached kernels; empty if caching is off.");
  m.def("cache_limit", &cache_limit, "The bytes that cached files may take.");
  m.def("evict_cache", &evict_cache, "Delete the least recently used files if all take more than the limit.");
  m.def(
      "cache_read",
      [](const std::string& key) -> std::optional<py::bytes> {
        auto payload = cache_read(key);
        if (!payload) return {};
        return py::bytes(reinterpret_cast<const char*>(payload->data()), payload->size());
      },
      py::arg("key"), "The payload of a cache file; None on a miss.");
  m.def(
      "cache_write",
      [](const std::string& key, std::string_view payload) {
        cache_write(key, Bytes(payload.begin(), payload.end()));
      },
      py::arg("key"), py::arg("payload"), "Write a cache file.");
  m.def("compiler_id", &compiler_id, "Identifies the kernel compiler in cache keys.");
}

}  // namespace xpu::bindings
