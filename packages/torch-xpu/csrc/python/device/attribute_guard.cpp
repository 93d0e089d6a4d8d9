#include "python/device/attribute_guard.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <vector>

namespace py = pybind11;

namespace torch_xpu {
namespace {

constexpr const char* guard_name = "attribute_guard";

struct Attribute {
  py::object name, value;
  bool is_tensor;
  const void* address;  ///< of a tensor

  Attribute(py::handle name_, py::handle value_)
      : name(py::reinterpret_borrow<py::object>(name_)),
        value(py::reinterpret_borrow<py::object>(value_)),
        is_tensor(THPVariable_Check(value.ptr())),
        address(is_tensor ? current_address() : nullptr) {}
  const void* current_address() const { return THPVariable_Unpack(value.ptr()).const_data_ptr(); }
};
using Attributes = std::vector<Attribute>;

PyObject* holds(PyObject* self, PyObject* dictionary) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyDict_Check(dictionary), guard_name, ": got ", Py_TYPE(dictionary)->tp_name,
                   ", expected a dictionary");
  for (auto& a : *static_cast<const Attributes*>(PyCapsule_GetPointer(self, guard_name))) {
    auto* value = PyDict_GetItemWithError(dictionary, a.name.ptr());
    if (!value && PyErr_Occurred()) throw python_error();
    if (value != a.value.ptr() || (a.is_tensor && a.current_address() != a.address)) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
  END_HANDLE_TH_ERRORS
}

}  // namespace

py::object guard_attributes(const py::dict& attributes) {
  static PyMethodDef method{guard_name, &holds, METH_O,
                            "Return whether a dictionary still has the attributes."};
  auto listed = std::make_unique<Attributes>();
  for (auto [key, value] : attributes) listed->emplace_back(key, value);
  py::capsule self(listed.get(), guard_name, [](PyObject* capsule) {
    delete static_cast<Attributes*>(PyCapsule_GetPointer(capsule, guard_name));
  });
  listed.release();
  auto* function = PyCFunction_New(&method, self.ptr());
  if (!function) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(function);
}

}  // namespace torch_xpu
