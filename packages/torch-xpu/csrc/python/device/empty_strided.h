// New tensors for code that torch.compile generates.
#pragma once

#include <Python.h>

namespace torch_xpu {

/// empty_strided(size, stride, dtype) on the current device, as torch._C._dynamo.guards._empty_strided_xpu.
PyObject* empty_strided(PyObject*, PyObject* const* arguments, Py_ssize_t count);

}  // namespace torch_xpu
