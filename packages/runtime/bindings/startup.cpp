#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bindings.h"
#include "xpu/cache.h"
#include "xpu/device.h"
#include "xpu/interrupt.h"
#include "xpu/process.h"

namespace xpu::bindings {

namespace {

// The interpreter runs what handles a signal on the main thread only.
void look_for_signals() {
  if (gettid() != getpid() || !Py_IsInitialized()) return;
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals()) throw py::error_already_set();
}

// A thread that comes back to an interpreter that has ended is ended by it, which C++ on its stack turns into
// the end of the process. So Python's own threads stay here; nobody waits for them.
void hold() {
  if (!PyGILState_GetThisThreadState()) return;
  if (PyGILState_Check()) PyEval_SaveThread();
  note_held_thread();
  while (true) pause();
}

// Python's own threads besides this one that may come back to the interpreter from what they do with a
// device.
bool others_at_work() {
  auto at_work = threads_at_work(std::chrono::seconds(1));
  std::erase(at_work, gettid());
  if (at_work.empty()) return false;
  for (auto thread : py::module_::import("threading").attr("enumerate")()) {
    auto id = thread.attr("native_id");
    if (!id.is_none() && std::ranges::find(at_work, id.cast<int>()) != at_work.end()) return true;
  }
  return false;
}

// While there is an interpreter that can be interrupted: the end itself waits without.
void wait_for_end() {
  auto wait = [] {
    auto ended = [] {
      py::gil_scoped_release release;
      return end_soon(std::chrono::milliseconds(100));
    };
    while (!ended())
      if (PyErr_CheckSignals()) throw py::error_already_set();
  };
  wait();
  if (!is_initialized()) return;
  hold_threads(hold);
  if (!others_at_work()) return;
  auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(4);  // a loaded machine is slow to come to it
  while (others_at_work() && std::chrono::steady_clock::now() < until) {
    py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  wait();
}

}  // namespace

void bind_startup(py::module_& m) {
  set_interruption(look_for_signals);
  m.def("wait_for_end", &wait_for_end, "Waits for the devices' work, as the end of the process does.");
  py::module_::import("atexit").attr("register")(m.attr("wait_for_end"));
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
