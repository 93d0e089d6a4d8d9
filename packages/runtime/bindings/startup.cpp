#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bindings.h"
#include "xpu/cache.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/interrupt.h"
#include "xpu/process.h"

namespace xpu::bindings {

namespace {

// The interpreter runs what handles a signal on the main thread only.
void check_signals() {
  if (!Py_IsInitialized()) return;
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals()) throw py::error_already_set();
}

// Asking takes the interrupt away, so it is made again.
bool is_interrupt_pending() {
  if (!Py_IsInitialized()) return false;
  py::gil_scoped_acquire gil;
  if (!PyOS_InterruptOccurred()) return false;
  PyErr_SetInterrupt();
  return true;
}

bool is_interpreter_ending() {
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

/// Python's other threads as the shutdown began: an interpreter that has ended knows them no more.
std::vector<int>& threads_at_shutdown() {
  static auto* ids = new std::vector<int>;
  return *ids;
}

// A thread that comes back to an interpreter that has ended is ended by it, which C++ on its stack turns into
// the end of the process. So such threads stay here. The interpreter waits for them no more, and nobody else
// does. The main thread is the one that ends the interpreter.
void park_if_interpreter_ended() noexcept {
  bool has_ended = !Py_IsInitialized();
  if (is_main_thread() || (!has_ended && !is_interpreter_ending())) return;
  auto& threads = threads_at_shutdown();
  bool is_python = has_ended ? std::ranges::find(threads, gettid()) != threads.end()
                             : PyGILState_GetThisThreadState() != nullptr;
  while (is_python) pause();
}

// While the interpreter still runs, which other functions of atexit may need the thread for, an exception
// ends the thread. One that goes on is slowed down until the interpreter ends.
void refuse_thread() {
  if (!PyGILState_GetThisThreadState()) return;  // not Python's
  park_if_interpreter_ended();
  // A thread that has the interpreter's lock must not give it away here: it may be in a destructor, which the
  // end of the interpreter would then leave by force.
  if (note_refused_thread() && !PyGILState_Check()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    park_if_interpreter_ended();
  }
  fail<DeviceError>("the process is ending: its devices take no more work of this thread");
}

// Python's own threads besides this one that may come back to the interpreter from what they do with a
// device.
bool are_threads_at_work() {
  auto at_work = threads_at_work(std::chrono::seconds(1));
  std::erase(at_work, gettid());
  auto is_at_work = [&](int id) { return std::ranges::find(at_work, id) != at_work.end(); };
  // A thread that Python no longer counts still destroys what it has for itself, such as graphs.
  return std::ranges::any_of(threads_at_shutdown(), is_at_work) ||
         (!at_work.empty() && std::ranges::any_of(other_threads(), is_at_work));
}

}  // namespace

void bind_startup(py::module_& m) {
  set_interrupt_hooks({check_signals, is_interrupt_pending});
  m.def(
      "drain_for", [](int milliseconds) { return drain_for(std::chrono::milliseconds(milliseconds)); },
      py::arg("milliseconds"), "Waits for the devices' work; False when it has to be called again.",
      py::call_guard<py::gil_scoped_release>());
  m.def(
      "begin_shutdown",
      [] {
        threads_at_shutdown() = other_threads();
        begin_shutdown({refuse_thread, park_if_interpreter_ended});
      },
      "From now on the work of other threads is refused.");
  m.def("are_threads_at_work", &are_threads_at_work, "Whether other threads use a device.");
  m.def(
      "wait_for_threads",
      [](int milliseconds) { return wait_for_threads(std::chrono::milliseconds(milliseconds)); },
      py::arg("milliseconds"), "Sleeps; False when XPU_EXIT_TIMEOUT is used up.",
      py::call_guard<py::gil_scoped_release>());
  m.attr("abi_version") = XPU_RUNTIME_ABI;
  m.def("is_initialized", &is_initialized, "True once the device stack has been used in this process.");
  m.def("generic_backend", &generic_backend, "True when only plain SYCL is used.", Unlocked());
  m.def("loaded_libraries", &loaded_libraries, py::arg("prefix"),
        "Paths of loaded libraries by file name prefix.");
  m.def("vendor_folder", &vendor_folder, "The folder the SYCL runtime was loaded from.");
  m.def("cache_folder", &cache_folder, "Where kernels are cached; empty when caching is off.");
  m.def("shipped_folder", &shipped_folder, "Where the SPIR-V that ships with the wheel lies.");
  m.def(
      "cache_read",
      [](const std::string& key) -> std::optional<py::bytes> {
        auto payload = cache_read(key);
        if (!payload) return {};
        return py::bytes(reinterpret_cast<const char*>(payload->data()), payload->size());
      },
      py::arg("key"), "What is kept under a file's name.");
  m.def(
      "cache_write",
      [](const std::string& key, std::string_view payload) {
        cache_write(key, Bytes(payload.begin(), payload.end()));
      },
      py::arg("key"), py::arg("payload"), "Keep it.");
  m.def("compiler_id", &compiler_id, "Identifies the kernel compiler in cache keys.");
}

}  // namespace xpu::bindings
