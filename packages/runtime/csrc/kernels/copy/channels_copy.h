// Copies of narrow elements between pixels and planes: an image's channels from last to first, or back.
#pragma once

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// False when the copy is not of this kind; both are of one dtype.
bool copy_channels(Stream stream, const Tensor& dst, const Tensor& src);

}  // namespace xpu::kernels
