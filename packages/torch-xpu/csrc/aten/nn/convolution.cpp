// Convolutions of any number of dimensions, plain and transposed. at::convolution() checks the shapes, and
// makes four real convolutions of a complex one.
#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/gemm.h"
#include "ops/tensor.h"
#include "xpu/dnn/convolution.h"
#include "xpu/kernels/reduce.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

at::MemoryFormat format_of(const Tensor& input, const Tensor& weight) {
  auto of_input = input.suggest_memory_format(), of_weight = weight.suggest_memory_format();
  return of_input != at::MemoryFormat::Contiguous ? of_input : of_weight;
}

// oneDNN reads no element twice.
Tensor laid_out(const Tensor& t, at::MemoryFormat format) {
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (t.stride(d) == 0 && t.size(d) > 1) return t.contiguous(format);
  return t;
}

std::vector<std::int64_t> numbers(IntArrayRef values, std::int64_t spatial) {
  return values.size() == 1 ? std::vector<std::int64_t>(static_cast<std::size_t>(spatial), values[0])
                            : values.vec();
}

xpu::dnn::ConvOptions options_of(const Tensor& input, IntArrayRef stride, IntArrayRef padding,
                                 IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                                 std::int64_t groups) {
  auto spatial = input.dim() - 2;
  auto flags = matmul_options();
  xpu::dnn::ConvOptions options;
  options.stride = numbers(stride, spatial);
  options.padding_l = options.padding_r = numbers(padding, spatial);
  options.dilation = numbers(dilation, spatial);
  options.groups = groups;
  options.transposed = transposed;
  options.deterministic = flags.deterministic;
  options.allow_tf32 = flags.allow_tf32;
  if (transposed) {
    auto more = numbers(output_padding, spatial);
    for (std::size_t d = 0; d < more.size(); ++d) options.padding_r[d] -= more[d];
  }
  return options;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups) {
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  bool has_bias = bias && bias->defined();
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (", input.toString(),
              ") and weight type (", weight.toString(), ") should be the same");
  TORCH_CHECK(!has_bias || bias->scalar_type() == input.scalar_type(), "Input type (", input.toString(),
              ") and bias type (", has_bias ? bias->toString() : "", ") should be the same");
  auto options = options_of(input, stride, padding, dilation, transposed, output_padding, groups);
  auto spatial = input.dim() - 2;
  auto shape = transposed ? at::native::conv_input_size(input.sizes(), weight.sizes(), options.padding_l,
                                                        numbers(output_padding, spatial), options.stride,
                                                        options.dilation, groups)
                          : at::native::conv_output_size(input.sizes(), weight.sizes(), options.padding_l,
                                                         options.stride, options.dilation);
  for (auto size : IntArrayRef(shape).slice(2))
    TORCH_CHECK(size > 0, "Given input size: ", input.sizes(),
                ". Calculated output size: ", IntArrayRef(shape), ". Output size is too small");
  auto format = format_of(input, weight);
  auto output = at::empty(shape, input.options().memory_format(format));
  if (output.numel() == 0) return output;
  auto source = laid_out(input, format), weights = laid_out(weight, format);
  if (has_bias) options.bias = view_of(*bias);
  translate_errors([&] {
    xpu::dnn::convolution(stream_of(input), view_of(source), view_of(weights), view_of(output), options);
  });
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
  auto options = options_of(input_, stride, padding, dilation, transposed, output_padding, groups);
  auto format = format_of(input_, weight_);
  auto grad = laid_out(grad_, format), input = laid_out(input_, format), weight = laid_out(weight_, format);
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
