#include "scalar.h"

#include <pybind11/complex.h>

#include "xpu/error.h"

namespace xpu::bindings {

Scalar scalar_of(py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) {
    py::int_ number = py::reinterpret_borrow<py::int_>(value);
    return number < py::int_(0) ? Scalar(number.cast<std::int64_t>()) : Scalar(number.cast<std::uint64_t>());
  }
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (PyComplex_Check(value.ptr())) return value.cast<std::complex<double>>();
  fail<UsageError>("scalar: got ", py::str(py::type::of(value)).cast<std::string>(),
                   ", expected bool, int, float or complex");
}

std::vector<Scalar> scalars_of(const py::sequence& values) {
  std::vector<Scalar> list;
  for (auto value : values) list.push_back(scalar_of(value));
  return list;
}

std::optional<DType> dtype_or_none(const std::optional<std::string>& name) {
  return name ? std::optional(dtype_of(*name)) : std::nullopt;
}

}  // namespace xpu::bindings
