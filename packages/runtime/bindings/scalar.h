// Python's numbers and dtype names as kernels take them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "xpu/kernels/scalar.h"

namespace xpu::bindings {

/// From a bool, int, float or complex.
Scalar scalar_of(py::handle value);
std::vector<Scalar> scalars_of(const py::sequence& values);
std::optional<DType> dtype_or_none(const std::optional<std::string>& name);

}  // namespace xpu::bindings
