#include "tensor.h"

#include <pybind11/stl.h>

#include "xpu/error.h"

namespace xpu::bindings {
namespace {

// As a cast, which looks the C++ type up in a hash table each time.
const DeviceTensor& unwrap(py::handle object) {
  static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<DeviceTensor>().release().ptr());
  if (Py_TYPE(object.ptr()) != type) return object.cast<const DeviceTensor&>();
  auto* instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  return *static_cast<const DeviceTensor*>(instance->get_value_and_holder().value_ptr());
}

}  // namespace

std::optional<DeviceTensor> find_tensor(py::handle array) {
  static PyObject* const name = PyUnicode_InternFromString("_tensor");
  auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(array.ptr(), name));
  if (found) return unwrap(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  PyErr_Clear();
  return {};
}

void bind_tensor(py::module_& m) {
  m.def("element_types", [] {
    py::list rows;
#define XPU_ROW(dtype, name, kind, ...) \
  rows.append(py::make_tuple(name_of(DType::dtype), size_of(DType::dtype), #kind));
    XPU_FOR_DTYPES(XPU_ROW)
#undef XPU_ROW
    return rows;
  });
  py::class_<DeviceTensor>(m, "Tensor", "A view of device memory; owns nothing.")
      .def(py::init([](std::uintptr_t pointer, const std::string& dtype,
                       const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                       int device) {
             expect<UsageError>(shape.size() == strides.size(), "tensor: got ", shape.size(), " sizes and ",
                                strides.size(), " strides");
             Tensor view(reinterpret_cast<void*>(pointer), dtype_of(dtype), static_cast<int>(shape.size()),
                         shape.data(), strides.data());
             return DeviceTensor{view, device};
           }),
           py::arg("pointer"), py::arg("dtype"), py::arg("shape"), py::arg("strides"), py::arg("device"))
      .def("__repr__", [](const DeviceTensor& tensor) { return tensor.describe(); });
}

}  // namespace xpu::bindings
