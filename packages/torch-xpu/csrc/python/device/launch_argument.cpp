#include "python/device/launch_argument.h"

#include <pybind11/pybind11.h>
#include <torch/csrc/autograd/python_variable.h>

#include "xpu/stream.h"

namespace py = pybind11;

namespace torch_xpu {
namespace {

// The runtime's AddressOf. Like launches of PyTorch's own kernels it does not order streams: the caller does.
bool address_of(PyObject* object, xpu::Stream, void** address, int* device) {
  auto& tensor = THPVariable_Unpack(object);
  *device = tensor.is_xpu() ? tensor.get_device() : -1;
  if (!tensor.is_xpu()) return true;
  try {
    *address = tensor.data_ptr();
    // A FakeTensor, for example, has no memory.
    TORCH_CHECK(*address || tensor.numel() == 0, "this tensor has no memory, so a kernel cannot take it");
    return true;
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
    return false;
  }
}

}  // namespace

void register_tensor_type() {
  auto function = reinterpret_cast<void*>(&address_of);
  py::module_::import("xpu_runtime._native")
      .attr("C")
      .attr("register_tensor_type")(py::module_::import("torch").attr("Tensor"),
                                    py::capsule(function, "xpu_runtime.address_of"));
}

}  // namespace torch_xpu
