// Python's arrays as views of device memory.
#pragma once

#include "bindings.h"
#include "xpu/tensor.h"

namespace xpu::bindings {

/// The view that an Array keeps as `_tensor`: one look-up a call instead of a dozen.
struct DeviceTensor : Tensor {
  int device = -1;
};

/// Null for what is no Array. Valid as long as the Array. A call takes its operands through Operands, which
/// also looks at their device.
const DeviceTensor* find_tensor(py::handle array);

}  // namespace xpu::bindings
