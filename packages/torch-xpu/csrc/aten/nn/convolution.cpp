// Convolutions of any number of dimensions, plain and transposed. at::convolution() checks the shapes, and
// makes four real convolutions of a complex one.
#include "ops/dnn/convolution.h"

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/tensor.h"
#include "xpu/kernels/reduce.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups) {
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  ConvolutionGeometry geometry{stride, padding, dilation, transposed, output_padding, groups};
  auto output = at::empty(convolution_sizes(input, weight, bias, geometry),
                          input.options().memory_format(convolution_format(input, weight)));
  convolve(output, input, weight, bias, geometry);
  return output;
}

// Of all but the channels.
Tensor sum_of_channels(const Tensor& grad) {
  auto sums = at::empty({grad.size(1)}, grad.options());
  std::vector<int> dims;
  for (int d = 0; d < grad.dim(); ++d)
    if (d != 1) dims.push_back(d);
  auto in = view_of(grad), out = view_of(sums);
  xpu::kernels::reduction("sum")(stream_of(grad), {&out, 1}, {&in, 1}, dims);
  return sums;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_, const Tensor& input_,
                                                        const Tensor& weight_, IntArrayRef stride,
                                                        IntArrayRef padding, IntArrayRef dilation,
                                                        bool transposed, IntArrayRef output_padding,
                                                        std::int64_t groups, std::array<bool, 3> wanted) {
  auto guard = guard_for(grad_, input_, weight_);
  check_one_device(grad_, input_, weight_);
  auto options = convolution_options(input_, {stride, padding, dilation, transposed, output_padding, groups});
  auto format = convolution_format(input_, weight_);
  auto grad = without_gaps(grad_, format), input = without_gaps(input_, format),
       weight = without_gaps(weight_, format);
  auto stream = stream_of(grad);
  Tensor grad_input, grad_weight, grad_bias;
  translate_errors([&] {
    if (wanted[0]) {
      grad_input = at::empty(input.sizes(), input.options().memory_format(format));
      xpu::dnn::convolution_backward_data(stream, view_of(grad), view_of(weight), view_of(grad_input),
                                          options);
    }
    // In one pass, which oneDNN has where the bias belongs to the rows of the weights.
    bool together = wanted[1] && wanted[2] && !transposed;
    if (wanted[2]) grad_bias = together ? at::empty({grad.size(1)}, grad.options()) : sum_of_channels(grad);
    if (wanted[1]) {
      grad_weight = at::empty(weight.sizes(), weight.options().memory_format(format));
      std::optional<xpu::Tensor> bias;
      if (together) bias = view_of(grad_bias);
      xpu::dnn::convolution_backward_weights(stream, view_of(input), view_of(grad), view_of(grad_weight),
                                             bias, options);
    }
  });
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
}

}  // namespace torch_xpu
