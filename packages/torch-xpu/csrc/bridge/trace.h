// Calls the callbacks of torch.xpu._gpu_trace, if there are any.
#pragma once

#include <Python.h>
#include <c10/core/impl/GPUTrace.h>

namespace torch_xpu {

/// Holds the GIL and sets the pending Python exception aside for its scope, so that a callback can neither
/// see nor clear it.
class PythonErrorGuard {
 public:
  PythonErrorGuard() : state_(PyGILState_Ensure()) { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~PythonErrorGuard() {
    PyErr_Restore(type_, value_, traceback_);
    PyGILState_Release(state_);
  }
  PythonErrorGuard(const PythonErrorGuard&) = delete;
  PythonErrorGuard& operator=(const PythonErrorGuard&) = delete;

 private:
  PyGILState_STATE state_;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

/// Calls `report(functions)` to report one event. `functions` are those of the Python interpreter, such as
/// trace_gpu_event_record(), which run the callbacks. Does nothing before the first callback is registered,
/// or once Python has ended.
template <class F>
void fire_gpu_trace(F&& report) {
  auto* interpreter = c10::impl::GPUTrace::get_trace();
  if (!interpreter || !Py_IsInitialized()) [[likely]]
    return;
  PythonErrorGuard guard;
  report(**interpreter);
}

}  // namespace torch_xpu
