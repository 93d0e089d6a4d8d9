#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
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

std::atomic<std::size_t> held{0};

// A thread that comes back to an interpreter that has ended is ended by it, which C++ on its stack turns into
// the end of the process. So Python's own threads stay here; nobody waits for them.
void hold() {
  if (!PyGILState_GetThisThreadState()) return;
  if (PyGILState_Check()) PyEval_SaveThread();
  ++held;
  while (true) pause();
}

std::size_t other_threads() {
  return py::len(py::module_::import("threading").attr("enumerate")()) - 1;
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
  auto others = is_initialized() ? other_threads() : 0;
  if (others == 0) return;
  hold_threads(hold);
  {
    py::gil_scoped_release release;
    constexpr int most = 200;  // milliseconds; not every thread uses a device
    for (int i = 0; i < most && held < others; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
