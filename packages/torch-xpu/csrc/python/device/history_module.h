#pragma once

#include <pybind11/pybind11.h>

namespace torch_xpu {

/// record_history() and history() of torch_xpu._device.
void bind_history(pybind11::module_& m);

}  // namespace torch_xpu
