// Guards of what was decided by the attributes of a Python object.
#pragma once

#include <pybind11/pybind11.h>

namespace torch_xpu {

/// Returns a function of a dictionary: True while it has these values by these names, the same objects, and
/// the tensors among them have the memory that they have now. The values are kept alive.
pybind11::object guard_attributes(const pybind11::dict& attributes);

}  // namespace torch_xpu
