// In which type oneDNN should multiply.
#pragma once

#include "dnn/descriptor.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// True on CPUs that multiply f32 at twice bf16's and at f16's speed.
bool f32_is_fastest(int device);

/// The type to do a sum of products of `type` in: f32 for bf16 where converting the `elements` of operands
/// and result costs less than the `products` save, otherwise `type`.
DType math_type(int device, DType type, std::int64_t products, std::int64_t elements);

/// A `desc` of type `from` for mathematics in `to`, dense where that is another; others as they are.
dnnl::memory::desc in_type(const dnnl::memory::desc& desc, DType from, DType to);

}  // namespace xpu::dnn
