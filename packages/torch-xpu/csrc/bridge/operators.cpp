// The schemas of our own operators, which compilers look up before the device is used. Their kernels are in
// aten/.
#include <torch/library.h>

// The steps are post-ops of the runtime by name, with two factors each; a binary step takes the next operand.
TORCH_LIBRARY(torch_xpu, m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  m.def(
      "fused_gemm(Tensor a, Tensor b, Tensor? bias, str[] steps, float[] factors, Tensor[] operands) -> "
      "Tensor",
      tags);
  m.def(
      "fused_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
      "dilation, "
      "bool transposed, int[] output_padding, int groups, str[] steps, float[] factors, Tensor[] operands) "
      "-> "
      "Tensor",
      tags);
  // The format names a weight's numbers; see aten/linear_algebra/low_bit.cpp.
  m.def(
      "low_bit_linear(Tensor input, Tensor weight, str format, Tensor? scale, Tensor? zero_point, Tensor? "
      "offset, Tensor? bias) -> Tensor",
      tags);
  m.def(
      "dequantize_low_bit(Tensor weight, str format, Tensor? scale, Tensor? zero_point, Tensor? offset, "
      "ScalarType dtype) -> Tensor",
      tags);
}
