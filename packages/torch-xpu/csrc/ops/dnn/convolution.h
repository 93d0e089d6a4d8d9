// Convolutions of PyTorch tensors of any number of dimensions, plain and transposed.
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/dnn/post_ops.h"
#include "xpu/dnn/convolution.h"

namespace torch_xpu {

/// The numbers of at::convolution(). A list with one number holds for every dimension.
struct ConvolutionGeometry {
  at::IntArrayRef stride, padding, dilation;
  bool transposed = false;
  at::IntArrayRef output_padding = {};
  std::int64_t groups = 1;
};

/// Returns the runtime's form of the geometry, with the program's settings.
xpu::dnn::ConvOptions convolution_options(const at::Tensor& input, const ConvolutionGeometry& geometry);

/// Returns `t`, or a copy if its memory has gaps, which oneDNN misreads in gradients of images whose channels
/// come last, or if an element is read twice, which it does not support.
at::Tensor without_gaps(const at::Tensor& t, at::MemoryFormat format);

/// Returns the layout of a result: channels-last if the input is, or else the weights are.
at::MemoryFormat convolution_format(const at::Tensor& input, const at::Tensor& weight);

/// Throws unless input, weights and bias have one type and the windows fit. Returns the result's sizes.
std::vector<std::int64_t> convolution_sizes(const at::Tensor& input, const at::Tensor& weight,
                                            const std::optional<at::Tensor>& bias,
                                            const ConvolutionGeometry& geometry);

/// The same for an input and weights of any types.
std::vector<std::int64_t> convolution_sizes(const at::Tensor& input, const at::Tensor& weight,
                                            const ConvolutionGeometry& geometry);

/// Computes a convolution and the steps after it into `output`. A step "sum" reads its memory.
void convolve(const at::Tensor& output, const at::Tensor& input, const at::Tensor& weight,
              const std::optional<at::Tensor>& bias, const ConvolutionGeometry& geometry,
              PostOps post_ops = {});

}  // namespace torch_xpu
