// oneDNN's description of a tensor.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "xpu/tensor.h"

namespace xpu::dnn {

/// Throws Rejection for a type oneDNN does not have.
dnnl::memory::data_type data_type_of(DType dtype);
/// Throws Rejection for negative strides.
dnnl::memory::desc describe(const Tensor& tensor);
/// The same shape and type in whatever layout the primitive likes best.
dnnl::memory::desc any_layout(const Tensor& tensor);
dnnl::memory::desc any_layout(const dnnl::memory::desc& desc);
/// Adds dimensions of size 1 in front, up to `ndim`.
Tensor with_leading_ones(const Tensor& tensor, int ndim);

}  // namespace xpu::dnn
