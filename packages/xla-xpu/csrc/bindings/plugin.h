// Functions of xla_xpu._plugin that the package's Python code uses.
#pragma once

#include <pybind11/pybind11.h>

namespace xla_xpu {

void bind_plugin(pybind11::module_& m);

}  // namespace xla_xpu
