#include "ops/dnn/convolution.h"

#include <ATen/native/ConvUtils.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/gemm.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

std::vector<std::int64_t> numbers(IntArrayRef values, std::int64_t spatial) {
  return values.size() == 1 ? std::vector<std::int64_t>(static_cast<std::size_t>(spatial), values[0])
                            : values.vec();
}

// at::convolution() has checked this; callers of the operators with steps may not have.
void check_geometry(const Tensor& input, const Tensor& weight, const ConvolutionGeometry& g) {
  auto spatial = input.dim() - 2;
  TORCH_CHECK(spatial >= 1 && spatial <= 3 && weight.dim() == input.dim(),
              "convolution: expected input and weight of equally many dimensions, 3 to 5, got ",
              input.sizes(), " and ", weight.sizes());
  TORCH_CHECK(g.groups > 0, "convolution: expected a positive number of groups, got ", g.groups);
  auto check = [&](const char* name, IntArrayRef values, std::int64_t least) {
    auto count = static_cast<std::int64_t>(values.size());
    TORCH_CHECK(count == 1 || count == spatial, "convolution: expected 1 or ", spatial, " numbers of ", name,
                ", got ", count);
    for (auto value : values)
      TORCH_CHECK(value >= least, "convolution: expected ", name, " of at least ", least, ", got ", values);
  };
  check("stride", g.stride, 1);
  check("dilation", g.dilation, 1);
  check("padding", g.padding, 0);
  if (g.transposed) check("output_padding", g.output_padding, 0);
  auto channels = g.transposed ? weight.size(0) : weight.size(1) * g.groups;
  TORCH_CHECK(input.size(1) == channels, "convolution: expected input of ", channels, " channels, got ",
              input.size(1));
}

}  // namespace

xpu::dnn::ConvOptions convolution_options(const Tensor& input, const ConvolutionGeometry& g) {
  auto spatial = input.dim() - 2;
  auto flags = matmul_options();
  xpu::dnn::ConvOptions options;
  options.stride = numbers(g.stride, spatial);
  options.padding_l = options.padding_r = numbers(g.padding, spatial);
  options.dilation = numbers(g.dilation, spatial);
  options.groups = g.groups;
  options.transposed = g.transposed;
  options.deterministic = flags.deterministic;
  options.allow_tf32 = flags.allow_tf32;
  if (g.transposed) {
    auto more = numbers(g.output_padding, spatial);
    for (std::size_t d = 0; d < more.size(); ++d) options.padding_r[d] -= more[d];
  }
  return options;
}

at::MemoryFormat convolution_format(const Tensor& input, const Tensor& weight) {
  auto of_input = input.suggest_memory_format(), of_weight = weight.suggest_memory_format();
  return of_input != at::MemoryFormat::Contiguous ? of_input : of_weight;
}

Tensor without_gaps(const Tensor& t, at::MemoryFormat format) {
  return t.is_non_overlapping_and_dense() ? t : t.contiguous(format);
}

std::vector<std::int64_t> convolution_sizes(const Tensor& input, const Tensor& weight,
                                            const std::optional<Tensor>& bias, const ConvolutionGeometry& g) {
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (", input.toString(),
              ") and weight type (", weight.toString(), ") should be the same");
  TORCH_CHECK(!given(bias) || bias->scalar_type() == input.scalar_type(), "Input type (", input.toString(),
              ") and bias type (", given(bias) ? bias->toString() : "", ") should be the same");
  return convolution_sizes(input, weight, g);
}

std::vector<std::int64_t> convolution_sizes(const Tensor& input, const Tensor& weight,
                                            const ConvolutionGeometry& g) {
  check_geometry(input, weight, g);
  auto options = convolution_options(input, g);
  auto shape = g.transposed ? at::native::conv_input_size(input.sizes(), weight.sizes(), options.padding_l,
                                                          numbers(g.output_padding, input.dim() - 2),
                                                          options.stride, options.dilation, g.groups)
                            : at::native::conv_output_size(input.sizes(), weight.sizes(), options.padding_l,
                                                           options.stride, options.dilation);
  for (auto size : IntArrayRef(shape).slice(2))
    TORCH_CHECK(size > 0, "Given input size: ", input.sizes(),
                ". Calculated output size: ", IntArrayRef(shape), ". Output size is too small");
  return shape;
}

void convolve(const Tensor& output, const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias, const ConvolutionGeometry& g, PostOps post_ops) {
  if (output.numel() == 0) return;
  auto options = convolution_options(input, g);
  auto format = output.suggest_memory_format();
  auto source = without_gaps(input, format), weights = without_gaps(weight, format);
  if (given(bias)) options.bias = view_of(*bias);
  options.post_ops = std::move(post_ops);
  translate_errors([&] {
    xpu::dnn::convolution(stream_of(input), view_of(source), view_of(weights), view_of(output), options);
  });
}

}  // namespace torch_xpu
