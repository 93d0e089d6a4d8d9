// Fills of views with one value.
#pragma once

#include "xpu/abi.h"
#include "xpu/kernels/scalar.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Enqueues `dst = value`, converted to the dtype by the rules of the device library's xpu::to.
XPU_API void fill(Stream stream, const Tensor& dst, Scalar value);

}  // namespace xpu::kernels
