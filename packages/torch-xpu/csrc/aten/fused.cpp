// torch_xpu::fused_gemm and fused_convolution: with the steps after them, for compiled code. Their schemas
// are in bridge/operators.txt.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/dnn/convolution.h"
#include "ops/dnn/gemm.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using StepNames = c10::List<std::string>;

Tensor fused_gemm(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias, const StepNames& steps,
                  at::ArrayRef<double> factors, at::TensorList operands) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, bias, operands);
  TORCH_CHECK(a.dim() == b.dim() && (a.dim() == 2 || (a.dim() == 3 && a.size(0) == b.size(0))) &&
                  a.size(-1) == b.size(-2),
              "mat1 and mat2 shapes cannot be multiplied: ", a.sizes(), " and ", b.sizes());
  auto sizes = a.sizes().vec();
  sizes.back() = b.size(-1);
  auto result = at::empty(sizes, a.options());
  GemmEpilogue epilogue;
  if (given(bias)) {
    epilogue.addend = *bias;
    epilogue.beta = 1;
  }
  auto readable = readable_operands(operands, sizes);
  epilogue.post_ops = named_post_ops(steps, factors, readable, sizes);
  gemm(result, a, b, epilogue);
  return result;
}

Tensor fused_convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                         IntArrayRef output_padding, std::int64_t groups, const StepNames& steps,
                         at::ArrayRef<double> factors, at::TensorList operands) {
  auto guard = guard_for(input, weight);
  check_one_device(input, weight, bias, operands);
  ConvolutionGeometry geometry{stride, padding, dilation, transposed, output_padding, groups};
  auto result = at::empty(convolution_sizes(input, weight, bias, geometry),
                          input.options().memory_format(convolution_format(input, weight)));
  auto readable = readable_operands(operands, result.sizes());
  convolve(result, input, weight, bias, geometry, named_post_ops(steps, factors, readable, result.sizes()));
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("fused_gemm", fused_gemm);
  m.impl("fused_convolution", fused_convolution);
}

}  // namespace torch_xpu
