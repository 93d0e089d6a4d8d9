// What the package's Python uses of the plugin beside PJRT.
#pragma once

#include <pybind11/pybind11.h>

namespace xla_xpu {

void bind_plugin(pybind11::module_& m);

}  // namespace xla_xpu
