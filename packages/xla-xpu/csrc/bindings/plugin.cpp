#include "bindings/plugin.h"

#include <pybind11/stl.h>

#include "exec/host_calls.h"
#include "pjrt/dlpack.h"
#include "pjrt/platform.h"
#include "xpu/abi.h"
#include "xpu/module.h"

namespace xla_xpu {

namespace py = pybind11;

namespace {

py::capsule capsule(std::uintptr_t pointer, const std::vector<std::int64_t>& shape, int code, int bits,
                    int device_type, int device) {
  auto* tensor = to_dlpack(reinterpret_cast<void*>(pointer), shape, code, bits, device_type, device);
  // A consumer renames the capsule and owns the tensor from then on.
  return py::capsule(tensor, "dltensor", [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    drop_dlpack(PyCapsule_GetPointer(capsule, "dltensor"));
  });
}

}  // namespace

void bind_plugin(py::module_& m) {
  m.attr("abi") = XPU_RUNTIME_ABI;
  m.def(
      "drain", [] { Platform::get().drain(); }, py::call_guard<py::gil_scoped_release>(),
      "Returns when every callback that JAX waits for has been called.");
  m.def("expect_builds", &xpu::expect_builds, py::arg("device"),
        "Several threads will want kernels soon: a helper that builds some of them may start meanwhile.");
  m.def("host_calls", &host_calls, "How often each function of the host was called by programs.");
  m.def("to_dlpack", &capsule, py::arg("pointer"), py::arg("shape"), py::arg("code"), py::arg("bits"),
        py::arg("device_type"), py::arg("device"),
        "A DLPack capsule that shares the memory of the array whose address `pointer` is.");
}

}  // namespace xla_xpu
