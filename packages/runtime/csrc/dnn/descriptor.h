// Converts a tensor's type, shape and strides to oneDNN's.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "xpu/tensor.h"

namespace xpu::dnn {

/// Throws Rejection for a type that oneDNN does not have.
dnnl::memory::data_type data_type_of(DType dtype);
/// Throws Rejection for negative strides and for dimensions that are broadcast by a stride of 0.
dnnl::memory::desc describe(const Tensor& tensor);
/// Returns the shape and type, with the layout left to the primitive.
dnnl::memory::desc any_layout(const Tensor& tensor);
dnnl::memory::desc any_layout(const dnnl::memory::desc& desc);
/// Returns a layout of strides with another type.
dnnl::memory::desc with_type(const dnnl::memory::desc& plain, dnnl::memory::data_type type);
/// Adds dimensions of size 1 in front, up to `ndim`.
Tensor with_leading_ones(const Tensor& tensor, int ndim);

}  // namespace xpu::dnn
