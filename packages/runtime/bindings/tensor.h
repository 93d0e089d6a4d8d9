// Python's arrays as views of device memory.
#pragma once

#include <optional>

#include "bindings.h"
#include "xpu/tensor.h"

namespace xpu::bindings {

/// The view that an Array keeps as `_tensor`: one look-up a call instead of a dozen.
struct DeviceTensor : Tensor {
  int device = -1;
};

/// Returns nullopt for what is no Array. A call takes its operands through Operands, which also looks at
/// their device.
std::optional<DeviceTensor> find_tensor(py::handle array);

}  // namespace xpu::bindings
