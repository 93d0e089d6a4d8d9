// The runtime's elementwise kernels over PyTorch's tensors, where no TensorIterator is needed.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>

#include "xpu/kernels/elementwise.h"

namespace torch_xpu {

/// Enqueues `outputs = kernel(inputs, scalars)`. Outputs are allocated and of one shape, to which inputs
/// broadcast. `compute` is as in the runtime.
void elementwise(const xpu::kernels::Elementwise& kernel, std::initializer_list<at::Tensor> outputs,
                 at::ArrayRef<at::Tensor> inputs, at::ArrayRef<at::Scalar> scalars = {},
                 std::optional<at::ScalarType> compute = {});

}  // namespace torch_xpu
