// PyTorch's tensors as the runtime's views.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "xpu/kernels/scalar.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace torch_xpu {

/// The runtime's dtype, or none for the types only PyTorch has (quantized ones, say).
std::optional<xpu::DType> dtype_if_known(at::ScalarType type);
/// Throws, naming the type, where dtype_if_known() has none.
xpu::DType dtype_of(at::ScalarType type);

/// One of the elements that share a place in memory, in each dimension.
at::Tensor each_once(const at::Tensor& t);

/// A view of the same memory.
xpu::Tensor view_of(const at::Tensor& tensor);
xpu::Scalar scalar_of(const at::Scalar& value);

/// The calling thread's stream on the tensor's device.
xpu::Stream stream_of(const at::Tensor& tensor);

}  // namespace torch_xpu
