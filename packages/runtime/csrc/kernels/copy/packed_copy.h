// Copies to and from u4 and i4, which have two elements in a byte.
#pragma once

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Throws UsageError unless both are contiguous and of one shape; Unsupported for complex.
void copy_packed(Stream stream, const Tensor& dst, const Tensor& src);

}  // namespace xpu::kernels
