// Arrays without elements over DLPack.
#pragma once

#include <pybind11/pybind11.h>

namespace torch_xpu {

/// PyTorch finds the device of a SYCL array by its memory, which one without elements need not have. Gives
/// the tensor for such a capsule and uses it up; None for any other.
pybind11::object empty_from_dlpack(const pybind11::object& capsule);

}  // namespace torch_xpu
