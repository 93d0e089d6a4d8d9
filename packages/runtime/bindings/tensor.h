// Python's arrays as views of device memory.
#pragma once

#include <optional>
#include <vector>

#include "bindings.h"
#include "xpu/tensor.h"

namespace xpu::bindings {

/// From an Array, which keeps the Tensor it stands for as `_tensor`: one look-up a call instead of a dozen.
Tensor tensor_of(py::handle array);
std::vector<Tensor> tensors_of(const py::sequence& arrays);
/// None is none.
std::optional<Tensor> optional_tensor(py::handle array);

}  // namespace xpu::bindings
