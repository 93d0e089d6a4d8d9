// torch_xpu._bridge: importing it loads libtorch_xpu_bridge.so, which makes xpu a device of PyTorch's. It
// must come before PyTorch first asks for its XPU hooks, which keeps the answer for good.
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <Python.h>

#include "bridge/custom_allocator.h"
#include "bridge/runtime.h"
#include "python/bridge/interpreter.h"
#include "torch_xpu/aoti/runtime.h"
#include "xpu/abi.h"

namespace {

PyObject* load(PyObject*, PyObject*) {
  try {
    torch_xpu::runtime();
  } catch (const c10::Error& why) {
    PyErr_SetString(PyExc_RuntimeError, why.what_without_backtrace());
    return nullptr;
  }
  Py_RETURN_NONE;
}
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
    int before = torch_xpu::current_device();
    if (wanted < 0 || wanted == before) return PyLong_FromLong(before);
    torch_xpu::runtime();  // which keeps the device, for all frameworks
    return PyLong_FromLong(torch_xpu::exchange_device(static_cast<int>(wanted)));
  } catch (const c10::Error& why) {
    PyErr_SetString(PyExc_RuntimeError, why.what_without_backtrace());
    return nullptr;
  }
}

// The addresses of two functions; null when the arguments are others.
bool functions_of(PyObject* arguments, torch_xpu::CustomAllocator& out, int* device = nullptr) {
  unsigned long long allocate = 0, free = 0;
  if (!(device ? PyArg_ParseTuple(arguments, "KKi", &allocate, &free, device)
               : PyArg_ParseTuple(arguments, "KK", &allocate, &free)))
    return false;
  out.allocate = reinterpret_cast<decltype(out.allocate)>(allocate);
  out.free = reinterpret_cast<decltype(out.free)>(free);
  return true;
}
PyObject* change_allocator(PyObject*, PyObject* arguments) {
  torch_xpu::CustomAllocator functions;
  if (!functions_of(arguments, functions)) return nullptr;
  try {
    torch_xpu::change_allocator(functions);
  } catch (const c10::Error& why) {
    PyErr_SetString(PyExc_RuntimeError, why.what_without_backtrace());
    return nullptr;
  }
  Py_RETURN_NONE;
}
PyObject* use_allocator(PyObject*, PyObject* arguments) {
  torch_xpu::CustomAllocator functions;
  int device = 0;
  if (!functions_of(arguments, functions, &device)) return nullptr;
  torch_xpu::use_allocator(functions, device);
  Py_RETURN_NONE;
}
PyObject* leave_allocator(PyObject*, PyObject*) {
  torch_xpu::leave_allocator();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"load", load, METH_NOARGS, "Loads the runtime, when it is not."},
                         {"is_loaded", is_loaded, METH_NOARGS, "True once the device has been used."},
                         {"current_device", current_device, METH_NOARGS, "The calling thread's device."},
                         {"exchange_device", exchange_device, METH_O,
                          "Sets the thread's device, unless -1; returns the one before."},
                         {"change_allocator", change_allocator, METH_VARARGS,
                          "Takes the process's device memory from two functions of the user's, by address."},
                         {"use_allocator", use_allocator, METH_VARARGS,
                          "The same for this thread's memory of a device, until leave_allocator()."},
                         {"leave_allocator", leave_allocator, METH_NOARGS, "Ends the last use_allocator()."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "torch_xpu._bridge", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__bridge() {
  // The guard, the hooks and the factories registered themselves when libtorch_xpu_bridge.so was loaded.
  if (!at::globalContext().hasXPU()) {
    PyErr_SetString(
        PyExc_ImportError,
        "torch-xpu was loaded too late: PyTorch has already settled that there is no xpu. It loads "
        "itself at the end of `import torch`; TORCH_DEVICE_BACKEND_AUTOLOAD=0 must not be set, or "
        "`import torch_xpu` must be the first line after `import torch`.");
    return nullptr;
  }
  torch_xpu::set_interpreter(&torch_xpu::python_interpreter());
  PyObject* module = PyModule_Create(&definition);
  if (!module) return nullptr;
  PyModule_AddIntConstant(module, "abi", XPU_RUNTIME_ABI);
  PyModule_AddIntConstant(module, "aoti_abi", TORCH_XPU_AOTI_ABI);
  PyModule_AddObjectRef(module, "coexists_with_cuda",
                        at::detail::getCUDAHooks().isBuilt() ? Py_True : Py_False);
  return module;
}
