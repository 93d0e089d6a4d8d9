// torch_xpu._device: loaded at the first use of the device. Loads libtorch_xpu_device.so, hands its runtime
// to the bridge, and has what torch.xpu asks beyond what the runtime's own Python has.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>

#include "bridge/trace.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/memory.h"
#include "device/random_states.h"
#include "device/runtime.h"
#include "device/streams.h"
#include "ops/fallback.h"
#include "python/device/attribute_guard.h"
#include "python/device/bound_linear.h"
#include "python/device/dlpack.h"
#include "python/device/empty_strided.h"
#include "python/device/history_module.h"
#include "python/device/launch_argument.h"
#include "xpu/abi.h"
#include "xpu/device.h"
#include "xpu/graph.h"

namespace py = pybind11;

namespace torch_xpu {
namespace {

py::tuple default_generators() {
  py::tuple all(xpu::device_count());
  for (int i = 0; i < xpu::device_count(); ++i)
    all[static_cast<std::size_t>(i)] =
        py::reinterpret_steal<py::object>(THPGenerator_Wrap(default_generator(i)));
  return all;
}

FallbackMode mode_of(const std::string& name) {
  if (name == "error") return FallbackMode::error;
  if (name == "warn") return FallbackMode::warn;
  TORCH_CHECK_VALUE(name == "allow", "fallback mode: got \"", name, "\", expected error, warn or allow");
  return FallbackMode::allow;
}
const char* name_of(FallbackMode mode) {
  return mode == FallbackMode::error ? "error" : mode == FallbackMode::warn ? "warn" : "allow";
}

}  // namespace

PYBIND11_MODULE(_device, m) {
  auto* runtime = torch_xpu_get_runtime();
  py::module_::import("xpu_runtime._native");  // the runtime learns of signals and of the interpreter's end
  register_tensor_type();
  m.attr("runtime") = py::capsule(runtime, "torch_xpu._device.runtime");
  m.attr("abi") = XPU_RUNTIME_ABI;

  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const c10::ValueError& e) {
      PyErr_SetString(PyExc_ValueError, e.what_without_backtrace());
    } catch (const c10::Error& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what_without_backtrace());
    }
  });

  m.def("default_generators", &default_generators);
  m.def("current_stream", [](int device) { return id_of_stream(xpu::current_stream(device)); });
  m.def("set_stream", [](int device, std::int64_t id) { xpu::exchange_stream(stream_of_id(device, id)); });
  m.def("stream_handle", [](int device, std::int64_t id) { return stream_of_id(device, id).handle(); });
  m.def("stream_queue", [](int device, std::int64_t id) {
    return reinterpret_cast<std::uintptr_t>(&stream_of_id(device, id).queue());
  });
  m.def("current_queue",
        [](int device) { return reinterpret_cast<std::uintptr_t>(&xpu::current_stream(device).queue()); });
  m.def("external_stream", [](std::uintptr_t queue) {
    auto stream = xpu::external_stream(*reinterpret_cast<sycl::queue*>(queue));
    return py::make_tuple(stream.device(), id_of_stream(stream));
  });
  m.def("priority", [](int device, std::int64_t id) { return stream_of_id(device, id).priority(); });
  m.def("is_capturing",
        [](int device, std::int64_t id) { return xpu::is_capturing(stream_of_id(device, id)); });
  m.def(
      "synchronize",
      [](int device) {
        fire_gpu_trace([&](auto& to) { to.trace_gpu_device_synchronization(c10::DeviceType::XPU); });
        translate_errors([&] { xpu::synchronize(device); });
      },
      py::call_guard<py::gil_scoped_release>());

  m.def("can_access_peer", [](int device, int peer) {
    return translate_errors([&] { return xpu::can_access_peer(device, peer); });
  });
  m.def("elapsed_ms", [](std::uintptr_t begin, std::uintptr_t end) {
    return sycl_runtime().elapsed_ms(reinterpret_cast<void*>(begin), reinterpret_cast<void*>(end));
  });

  m.def("empty_from_dlpack", &empty_from_dlpack);
  m.def("random_states", [](int device, std::int64_t count) {
    return py::reinterpret_steal<py::object>(THPVariable_Wrap(random_states(device, count)));
  });

  static PyMethodDef fast[] = {
      {"empty_strided", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&empty_strided)), METH_FASTCALL,
       "empty_strided(size, stride, dtype): a new tensor on the current device."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(m.ptr(), fast) != 0) throw py::error_already_set();

  m.def("bind_low_bit_linear", &bind_low_bit_linear);
  m.def("bind_dynamic_linear", &bind_dynamic_linear);
  m.def("guard_attributes", &guard_attributes);

  bind_history(m);
  m.def("set_use_on_oom", &set_use_on_oom);

  m.def("fallbacks", &fallbacks);
  m.def("reset_fallbacks", &reset_fallbacks);
  m.def("fallback_mode", [] { return name_of(fallback_mode()); });
  m.def("set_fallback_mode", [](const std::string& name) { set_fallback_mode(mode_of(name)); });
}

}  // namespace torch_xpu
