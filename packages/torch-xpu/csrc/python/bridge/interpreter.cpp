#include "python/bridge/interpreter.h"

#include <Python.h>
#include <c10/util/Exception.h>

#include <string>

#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Sets the pending Python exception aside for its scope.
class PythonErrorGuard {
 public:
  PythonErrorGuard() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~PythonErrorGuard() { PyErr_Restore(type_, value_, traceback_); }
  PythonErrorGuard(const PythonErrorGuard&) = delete;
  PythonErrorGuard& operator=(const PythonErrorGuard&) = delete;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

std::string python_error() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string message = bytes ? bytes : "unknown error";
  for (auto* object : {type, value, trace, text}) Py_XDECREF(object);
  return message;
}

class CPython final : public Interpreter {
 public:
  Runtime& load_runtime() override {
    Gil gil;
    PyObject* module = PyImport_ImportModule("torch_xpu._device");
    TORCH_CHECK(module, "the xpu runtime cannot be loaded: ", python_error(),
                ". Run `xpu-sdk doctor` to see which layer is at fault.");
    Py_DECREF(module);
    auto* found = static_cast<Runtime*>(PyCapsule_Import("torch_xpu._device.runtime", 0));
    TORCH_CHECK(found, "torch_xpu._device holds no runtime: ", python_error());
    return *found;
  }
  void* release_lock() noexcept override {
    return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
  }
  void acquire_lock(void* state) noexcept override {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  }
  void run_callback(c10::function_ref<void()> callback) override {
    if (!Py_IsInitialized()) return;
    Gil gil;
    PythonErrorGuard guard;
    callback();
  }
};

}  // namespace

Interpreter& python_interpreter() {
  static auto* one = new CPython;
  return *one;
}

}  // namespace torch_xpu
