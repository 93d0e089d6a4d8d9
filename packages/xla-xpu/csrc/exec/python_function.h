// A Python function that a step of a plan calls, from any thread.
#pragma once

#include "exec/plan_fields.h"
#include "xpu/error.h"

namespace xla_xpu {

/// Holds the Python function in a step's field "function". The step's field "name" identifies it in errors
/// and counts.
class PythonFunction {
 public:
  explicit PythonFunction(const PlanFields& fields)
      : name_(fields.get<std::string>("name")),
        function_(fields.get<py::object>("function").release().ptr()) {}
  PythonFunction(const PythonFunction&) = delete;
  PythonFunction& operator=(const PythonFunction&) = delete;
  ~PythonFunction() {
    if (!Py_IsInitialized()) return;  // the interpreter has ended, and its objects with it
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
  PyObject* function_;  // owned; a py::object would release it without taking the GIL
};

}  // namespace xla_xpu
