// Imports arrays without elements from DLPack.
#pragma once

#include <pybind11/pybind11.h>

namespace torch_xpu {

/// Returns an empty tensor for a capsule with a SYCL array that has no elements, and consumes the capsule.
/// Returns None for any other capsule, and leaves it as it is. PyTorch cannot import such an array: it finds
/// the device by the address of the memory, and an array without elements may have none.
pybind11::object empty_from_dlpack(const pybind11::object& capsule);

}  // namespace torch_xpu
