#include "bindings/plugin.h"

#include <pybind11/stl.h>

#include "exec/host_calls.h"
#include "pjrt/platform.h"
#include "pjrt/transfers/dlpack.h"
#include "xpu/abi.h"
#include "xpu/copy.h"
#include "xpu/stream.h"

namespace xla_xpu {

namespace py = pybind11;

namespace {

py::capsule capsule(void* tensor) {
  // A consumer renames the capsule and then owns the tensor.
  return py::capsule(tensor, "dltensor", [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    drop_dlpack(PyCapsule_GetPointer(capsule, "dltensor"));
  });
}

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

using Shape = std::vector<std::int64_t>;

// Copies on the current stream and blocks, because the caller may reuse host memory at once.
void copy(int device, std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  auto stream = xpu::current_stream(device);
  xpu::copy(stream, at(to), at(from), bytes);
  stream.synchronize();
}

}  // namespace

void bind_plugin(py::module_& m) {
  m.attr("abi") = XPU_RUNTIME_ABI;
  m.def(
      "is_drained", [] { return Platform::get().is_drained(); },
      "Return True if every callback that JAX waits for has run. Never blocks.");
  m.def("host_calls", &host_calls, "Return how often programs called each host function, by name.");
  m.def(
      "to_dlpack",
      [](std::uintptr_t pointer, const Shape& shape, int code, int bits, int device_type, int device) {
        return capsule(to_dlpack(at(pointer), shape, code, bits, device_type, device));
      },
      py::arg("pointer"), py::arg("shape"), py::arg("code"), py::arg("bits"), py::arg("device_type"),
      py::arg("device"),
      "Return a DLPack capsule that shares and keeps alive the memory of the array at address `pointer`.");
  m.def(
      "to_unowned_dlpack",
      [](std::uintptr_t pointer, const Shape& shape, int code, int bits, int device) {
        return capsule(to_unowned_dlpack(at(pointer), shape, code, bits, device));
      },
      py::arg("pointer"), py::arg("shape"), py::arg("code"), py::arg("bits"), py::arg("device"),
      "Return a DLPack capsule of device memory that the capsule does not keep alive.");
  m.def(
      "order_after_producer",
      [](std::uintptr_t address, std::uintptr_t stream) {
        order_after_producer(at(address), xpu::stream_of_handle(stream));
      },
      py::arg("address"), py::arg("stream"), py::call_guard<py::gil_scoped_release>(),
      "Let work on the stream with this handle run after the producer of the array at this address.");
  m.def("copy", &copy, py::arg("device"), py::arg("to"), py::arg("source"), py::arg("bytes"),
        py::call_guard<py::gil_scoped_release>(),
        "Copy between two addresses on the thread's current stream, and block until the copy has completed.");
}

}  // namespace xla_xpu
