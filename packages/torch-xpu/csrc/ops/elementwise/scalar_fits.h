#pragma once

#include <c10/core/Scalar.h>

namespace torch_xpu {

/// Raises PyTorch's own error where `value` overflows `type`, as every kernel of the CPU and of CUDA does
/// before it starts. Kernels of the device would take the lowest bits.
void check_fits(const at::Scalar& value, at::ScalarType type);

}  // namespace torch_xpu
