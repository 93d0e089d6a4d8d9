// Copies between views of any strides and dtypes. Thread-safe; throws UsageError for overlapping or wrong
// operands.
#pragma once

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Enqueues `dst = src`, converted by the rules of the device library's xpu::to. `src` broadcasts to the
/// shape of `dst`; its strides may be zero or negative. The two must not overlap unless they are the same
/// view. u4 and i4 must be contiguous, and convert to and from every other dtype.
XPU_API void copy(Stream stream, const Tensor& dst, const Tensor& src);

}  // namespace xpu::kernels
