// PyTorch's quantized convolutions, `onednn::qconv_pointwise`: a convolution of integers of eight bits with a
// frozen weight, its bias, a sum with another tensor, an activation, and the quantization of the result in
// one call.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "aten/quantized/operands.h"
#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/convolution.h"
#include "ops/dnn/frozen_weight.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using StepScalars = c10::List<std::optional<at::Scalar>>;

struct QuantizedGeometry {
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups;
};

constexpr const char* convolution_name = "qconv_pointwise";

// Channels come last unless those of the input do not, as Inductor expects.
Tensor empty_result(const Tensor& input, IntArrayRef sizes, at::ScalarType type) {
  auto options = input.options().dtype(type);
  if (input.is_contiguous() || input.stride(0) == 0) return at::empty(sizes, options);
  auto last = sizes.vec();
  last.erase(last.begin() + 1);
  last.push_back(sizes[1]);
  return at::empty(last, options).movedim(-1, 1);
}

Tensor quantized_convolution(const Tensor& input, const TensorQuantization& quantization,
                             const Tensor& weight, const Tensor& scales, const Tensor& zero_points,
                             const OptionalTensor& bias, const QuantizedGeometry& g,
                             const ResultType& result_type, const std::optional<BinaryStep>& binary,
                             const Activation& activation) {
  check_quantized_operands(convolution_name, input, weight, scales, zero_points, bias, weight.size(0));
  ConvolutionGeometry geometry{g.stride, g.padding, g.dilation, false, {}, g.groups};
  auto sizes = convolution_sizes(input, weight, geometry);
  auto options = convolution_options(input, geometry);
  TORCH_CHECK(!binary || binary->name == "sum", convolution_name, ": expected the binary step 'sum', got '",
              binary ? binary->name : "", "'");
  TORCH_CHECK(!binary || binary->operand.sizes() == IntArrayRef(sizes), convolution_name,
              ": expected a summand of shape ", IntArrayRef(sizes), ", got ",
              binary ? binary->operand.sizes() : IntArrayRef());
  auto output = binary ? binary->operand : empty_result(input, sizes, result_type.type);
  if (output.numel() == 0) return output;
  options.packed_weights = packed_weights(weight);
  options.src = quantization.view();
  auto of_weight = weight_scales(scales, weight.dim(), 0);
  options.weights.scale = view_of(of_weight);
  options.dst = result_type.quantization.view();
  Tensor wide_bias;
  if (given(bias)) {
    wide_bias = bias->to(at::kFloat).reshape({weight.size(0)});
    options.bias = view_of(wide_bias);
  }
  if (binary)
    options.post_ops.push_back({xpu::dnn::PostOp::Kind::sum,
                                static_cast<float>(binary->scale),
                                static_cast<float>(binary->zero_point),
                                {}});
  activation.append_to(options.post_ops, result_type);
  options.small_src = activation.has_small_input();
  auto source = without_gaps(input, output.suggest_memory_format());
  translate_errors([&] {
    xpu::dnn::convolution(stream_of(input), view_of(source), view_of(weight), view_of(output), options);
  });
  return output;
}

using Numbers = c10::List<std::int64_t>;

// The input's scale and zero point are numbers or tensors. The types of parameters are those of PyTorch's
// kernels.

template <class Scale, class ZeroPoint>
Tensor qconv(Tensor input, Scale scale, ZeroPoint zero_point, Tensor weight, Tensor scales,
             Tensor zero_points, OptionalTensor bias, Numbers stride, Numbers padding, Numbers dilation,
             std::int64_t groups, double output_scale, std::int64_t output_zero_point,
             std::optional<at::ScalarType> output_type, std::string_view name, StepScalars scalars,
             std::optional<std::string_view> algorithm) {
  auto guard = guard_for(input, weight);
  check_one_device(input, weight, scales, zero_points, bias);
  return quantized_convolution(
      input, TensorQuantization::of(scale, zero_point, input), weight, scales, zero_points, bias,
      {stride.vec(), padding.vec(), dilation.vec(), groups},
      ResultType::of(convolution_name, output_type, output_scale, output_zero_point, input), {},
      {name, scalars, algorithm.value_or("none")});
}

template <class Scale, class ZeroPoint>
Tensor qconv_binary(Tensor input, Scale scale, ZeroPoint zero_point, Tensor weight, Tensor scales,
                    Tensor zero_points, Tensor summand, OptionalTensor bias, Numbers stride, Numbers padding,
                    Numbers dilation, std::int64_t groups, double output_scale,
                    std::int64_t output_zero_point, std::optional<at::ScalarType> output_type,
                    double summand_scale, std::int64_t summand_zero_point, std::string_view binary,
                    std::optional<at::Scalar> alpha, std::optional<std::string_view> name,
                    StepScalars scalars, std::optional<std::string_view> algorithm) {
  auto guard = guard_for(input, weight);
  check_one_device(input, weight, scales, zero_points, summand, bias);
  auto result_type = ResultType::of(convolution_name, output_type, output_scale, output_zero_point, input);
  BinaryStep step{binary, summand, summand_scale, summand_zero_point};
  step.check(convolution_name, alpha ? alpha->toDouble() : 1, result_type);
  return quantized_convolution(input, TensorQuantization::of(scale, zero_point, input), weight, scales,
                               zero_points, bias, {stride.vec(), padding.vec(), dilation.vec(), groups},
                               result_type, step,
                               {name.value_or("none"), scalars, algorithm.value_or("none")});
}

Tensor prepack_convolution(Tensor weight, Tensor, double, std::int64_t, Numbers, Numbers, Numbers,
                           std::int64_t, std::optional<Numbers>) {
  auto guard = guard_for(weight);
  TORCH_CHECK(weight.dim() >= 3 && weight.dim() <= 5 && weight.scalar_type() == at::kChar,
              "qconv_prepack: expected a weight of int8 with three to five dimensions, got ",
              weight.scalar_type(), " of shape ", weight.sizes());
  return freeze_weight(weight);
}

}  // namespace

TORCH_LIBRARY_IMPL(onednn, XPU, m) {
  m.impl("qconv_prepack", prepack_convolution);
  m.impl("qconv1d_pointwise", qconv<double, std::int64_t>);
  m.impl("qconv2d_pointwise", qconv<double, std::int64_t>);
  m.impl("qconv3d_pointwise", qconv<double, std::int64_t>);
  m.impl("qconv_pointwise", qconv<double, std::int64_t>);
  m.impl("qconv2d_pointwise.tensor", qconv<Tensor, Tensor>);
  m.impl("qconv_pointwise.tensor", qconv<Tensor, Tensor>);
  m.impl("qconv2d_pointwise.binary", qconv_binary<double, std::int64_t>);
  m.impl("qconv2d_pointwise.binary_tensor", qconv_binary<Tensor, Tensor>);
}

}  // namespace torch_xpu
