// Calls the callbacks of torch.xpu._gpu_trace, if there are any.
#pragma once

#include <Python.h>
#include <c10/core/impl/GPUTrace.h>

namespace torch_xpu {

/// Saves the pending Python exception around a callback, which must not see or clear it. Holds the GIL.
class PythonErrorGuard {
 public:
  PythonErrorGuard() : state_(PyGILState_Ensure()) { PyErr_Fetch(&type_, &value_, &trace_); }
  ~PythonErrorGuard() {
    PyErr_Restore(type_, value_, trace_);
    PyGILState_Release(state_);
  }
  PythonErrorGuard(const PythonErrorGuard&) = delete;
  PythonErrorGuard& operator=(const PythonErrorGuard&) = delete;

 private:
  PyGILState_STATE state_;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

/// Calls `report(interpreter)`, which reports one event, if there are callbacks.
template <class F>
void fire_gpu_trace(F&& report) {
  auto* interpreter = c10::impl::GPUTrace::get_trace();
  if (!interpreter || !Py_IsInitialized()) [[likely]]
    return;
  PythonErrorGuard guard;
  report(**interpreter);
}

}  // namespace torch_xpu
