#pragma once

#include "xpu/abi.h"
#include "xpu/dnn/attributes.h"
#include "xpu/stream.h"

namespace xpu::dnn {

/// Copies between layouts and types, and quantizes or dequantizes.
XPU_API void reorder(Stream stream, const Tensor& src, const Tensor& dst,
                     const Quantization& src_quantization = {}, const Quantization& dst_quantization = {});

}  // namespace xpu::dnn
