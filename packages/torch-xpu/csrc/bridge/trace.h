// Tells the callbacks of torch.xpu._gpu_trace, when there are any.
#pragma once

#include <Python.h>
#include <c10/core/impl/GPUTrace.h>

namespace torch_xpu {

/// Memory is freed while an error is on its way to Python: a callback must neither see nor end it.
class KeptError {
 public:
  KeptError() : state_(PyGILState_Ensure()) { PyErr_Fetch(&type_, &value_, &trace_); }
  ~KeptError() {
    PyErr_Restore(type_, value_, trace_);
    PyGILState_Release(state_);
  }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  PyGILState_STATE state_;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

/// `tell(interpreter)` reports one event.
template <class F>
void traced(F&& tell) {
  auto* interpreter = c10::impl::GPUTrace::get_trace();
  if (!interpreter || !Py_IsInitialized()) [[likely]]
    return;
  KeptError kept;
  tell(**interpreter);
}

}  // namespace torch_xpu
