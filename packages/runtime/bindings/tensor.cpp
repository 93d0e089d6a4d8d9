#include "tensor.h"

#include <pybind11/stl.h>

#include "xpu/error.h"

namespace xpu::bindings {

Tensor tensor_of(py::handle array) {
  static PyObject* const name = PyUnicode_InternFromString("_tensor");
  auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(array.ptr(), name));
  if (found) return found.cast<Tensor>();
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  PyErr_Clear();
  fail<UsageError>("got ", py::str(py::type::of(array)).cast<std::string>(),
                   ", expected an Array of xpu_runtime");
}

std::vector<Tensor> tensors_of(const py::sequence& arrays) {
  std::vector<Tensor> list;
  for (auto array : arrays) list.push_back(tensor_of(array));
  return list;
}

std::optional<Tensor> optional_tensor(py::handle array) {
  if (array.is_none()) return std::nullopt;
  return tensor_of(array);
}

void bind_tensor(py::module_& m) {
  py::class_<Tensor>(m, "Tensor", "A view of device memory; owns nothing.")
      .def(py::init([](std::uintptr_t pointer, const std::string& dtype,
                       const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
             expect<UsageError>(shape.size() == strides.size(), "tensor: got ", shape.size(), " sizes and ",
                                strides.size(), " strides");
             return Tensor(reinterpret_cast<void*>(pointer), dtype_of(dtype), static_cast<int>(shape.size()),
                           shape.data(), strides.data());
           }),
           py::arg("pointer"), py::arg("dtype"), py::arg("shape"), py::arg("strides"))
      .def("__repr__", &Tensor::describe);
}

}  // namespace xpu::bindings
