// A Python function that a step calls, from whatever thread the step runs on.
#pragma once

#include "exec/fields.h"
#include "xpu/error.h"

namespace xla_xpu {

/// The field "function" of a step, under the name that errors and counts have.
class PythonFunction {
 public:
  explicit PythonFunction(const Fields& fields)
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

  /// Calls it with what `arguments()`, called with the GIL held, returns as a tuple. What it raises becomes
  /// an error with its name.
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
