// torch_xpu._bridge: importing it makes xpu a device of PyTorch's. It must come before PyTorch first asks
// for its XPU hooks, which keeps the answer for good.
#include <ATen/Context.h>
#include <Python.h>

#include "bridge/allocators.h"
#include "bridge/runtime.h"
#include "xpu/abi.h"

namespace {

PyObject* is_loaded(PyObject*, PyObject*) {
  return PyBool_FromLong(torch_xpu::runtime_if_loaded() != nullptr);
}
PyObject* current_device(PyObject*, PyObject*) {
  return PyLong_FromLong(torch_xpu::current_device());
}
PyObject* exchange_device(PyObject*, PyObject* device) {
  long wanted = PyLong_AsLong(device);
  if (wanted == -1 && PyErr_Occurred()) return nullptr;
  try {
    return PyLong_FromLong(wanted < 0 ? torch_xpu::current_device()
                                      : torch_xpu::exchange_device(static_cast<int>(wanted)));
  } catch (const c10::Error& why) {
    PyErr_SetString(PyExc_RuntimeError, why.what_without_backtrace());
    return nullptr;
  }
}

PyMethodDef methods[] = {{"is_loaded", is_loaded, METH_NOARGS, "True once the device has been used."},
                         {"current_device", current_device, METH_NOARGS, "The calling thread's device."},
                         {"exchange_device", exchange_device, METH_O,
                          "Sets the thread's device, unless -1; returns the one before."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "torch_xpu._bridge", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__bridge() {
  // The guard, the hooks and the factories registered themselves when this library was loaded.
  if (!at::globalContext().hasXPU()) {
    PyErr_SetString(
        PyExc_ImportError,
        "torch-xpu was loaded too late: PyTorch has already settled that there is no xpu. It loads "
        "itself at the end of `import torch`; TORCH_DEVICE_BACKEND_AUTOLOAD=0 must not be set, or "
        "`import torch_xpu` must be the first line after `import torch`.");
    return nullptr;
  }
  torch_xpu::register_allocators();
  PyObject* module = PyModule_Create(&definition);
  if (module) PyModule_AddIntConstant(module, "abi", XPU_RUNTIME_ABI);
  return module;
}
