// Copies between tensors of any device, dtype and layout.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_xpu {

/// to = from, of one shape; one of them is on xpu. With `non_blocking` the host does not wait where it need
/// not: for pinned host memory, and between devices.
void copy_tensor(const at::Tensor& to, const at::Tensor& from, bool non_blocking);

}  // namespace torch_xpu
