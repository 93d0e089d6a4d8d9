// Reads the fields of a plan's step from a Python dictionary. Needs the GIL.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "exec/frame.h"

namespace xla_xpu {

namespace py = pybind11;

class PlanFields {
 public:
  explicit PlanFields(py::dict fields) : fields_(std::move(fields)) {}

  template <class T>
  T get(const char* name) const {
    return py::cast<T>(fields_[name]);
  }
  template <class T>
  T get(const char* name, T fallback) const {
    return fields_.contains(name) ? py::cast<T>(fields_[name]) : std::move(fallback);
  }
  bool has(const char* name) const { return fields_.contains(name); }
  std::vector<std::string> strings(const char* name) const { return get<std::vector<std::string>>(name); }
  std::vector<std::int64_t> int64s(const char* name) const { return get<std::vector<std::int64_t>>(name); }
  std::vector<int> ints(const char* name) const { return get<std::vector<int>>(name); }

  /// An operand is [buffer, offset in bytes, dtype, shape, strides].
  Operand operand(const char* name) const { return operand_of(fields_[name]); }
  std::vector<Operand> operands(const char* name) const {
    std::vector<Operand> all;
    for (auto item : py::cast<py::list>(fields_[name])) all.push_back(operand_of(item));
    return all;
  }
  py::list list(const char* name) const { return py::cast<py::list>(fields_[name]); }

 private:
  static Operand operand_of(const py::handle& item) {
    auto parts = py::cast<py::sequence>(item);
    auto shape = py::cast<std::vector<std::int64_t>>(parts[3]);
    auto strides = py::cast<std::vector<std::int64_t>>(parts[4]);
    return {py::cast<int>(parts[0]), py::cast<std::int64_t>(parts[1]),
            xpu::Tensor(nullptr, xpu::dtype_of(py::cast<std::string>(parts[2])),
                        static_cast<int>(shape.size()), shape.data(), strides.data())};
  }

  py::dict fields_;
};

}  // namespace xla_xpu
