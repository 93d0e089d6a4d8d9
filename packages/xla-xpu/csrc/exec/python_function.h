// A Python function that a step calls, on any thread.
#pragma once

#include "exec/plan_fields.h"
#include "xpu/error.h"

namespace xla_xpu {

/// The field "function" of a step. Its field "name" is the name in errors and counts.
class PythonFunction {
 public:
  explicit PythonFunction(const PlanFields& fields)
      : name_(fields.get<std::string>("name")),
        function_(fields.get<py::object>("function").release().ptr()) {}
  PythonFunction(const PythonFunction&) = delete;
  PythonFunction& operator=(const PythonFunction&) = delete;
  ~PythonFunction() {
    if (!Py_IsInitialized()) return;
    py::gil_scoped_acquire gil;
    Py_DECREF(function_);
  }

  const std::string& name() const { return name_; }

  /// Calls the function with the tuple that `arguments()` returns; takes the GIL for both. Throws xpu::Error
  /// with the function's name if it raises.
  template <class Arguments>
  void call(const Arguments& arguments) const {
    py::gil_scoped_acquire gil;
    try {
      py::reinterpret_borrow<py::object>(function_)(*arguments());
    } catch (py::error_already_set& error) {
      xpu::fail<xpu::Error>(name_, ": ", error.what());
    }
  }

 private:
  std::string name_;
  PyObject* function_;
};

}  // namespace xla_xpu
