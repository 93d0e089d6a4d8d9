// The schemas of our own operators, which compilers look up before the device is used. Their kernels are in
// aten/.
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <tuple>

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
  // The format names a weight's numbers; see aten/linear_algebra/low_bit.cpp. The factor multiplies all
  // products before the bias is added.
  m.def(
      "low_bit_linear(Tensor input, Tensor weight, str format, Tensor? scale, Tensor? zero_point, Tensor? "
      "offset, Tensor? bias, Tensor? factor=None) -> Tensor",
      tags);
  m.def(
      "dequantize_low_bit(Tensor weight, str format, Tensor? scale, Tensor? zero_point, Tensor? offset, "
      "ScalarType dtype) -> Tensor",
      tags);
  // Rounds each block of a row to the values of e2m1, e4m3 or e5m2 times a scale of e8m0 or e4m3; see
  // aten/linear_algebra/block_rounding.cpp.
  m.def("round_blocks(Tensor input, int block, str format, str scaling, Tensor? factor=None) -> Tensor",
        tags);
  // Bytes from numbers of one to seven bits, whose order is in aten/linear_algebra/unpack_bits.cpp.
  m.def("unpack_bits(Tensor packed, int bits) -> Tensor", tags);
  // To int8 or float8_e4m3fn, with f32 scales of [..., 1].
  m.def("quantize_rows(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", tags);
  // Quantizes each row of the input to the type of the weight, whose rows have scales.
  m.def("dynamic_linear(Tensor input, Tensor weight, Tensor scale, Tensor? bias) -> Tensor", tags);
  // torchao's step of Adam. The moments, means and squares of the gradients and for amsgrad the largest of
  // the squares, are floats without scales; float8_e4m3fn; or places in the two tables of 256 or 16 floats,
  // those of 16 two a byte, the first in the high half. A scale is that of a block of neighbors. `step` and
  // `lr` have one element and are read when the work runs, or on the host if they are there.
  m.def(
      "low_bit_adam_(Tensor(a!) self, Tensor grad, Tensor(b!)[] codes, Tensor(c!)[] scales, Tensor[] tables, "
      "Tensor step, Tensor lr, float beta1, float beta2, float weight_decay, float eps, bool decoupled, bool "
      "stochastic_rounding, *, Generator? generator=None) -> ()",
      tags);
}

// Compilers ask what an operator returns.
TORCH_LIBRARY_IMPL(torch_xpu, Meta, m) {
  m.impl("quantize_rows", [](const at::Tensor& input, at::ScalarType dtype) {
    auto sizes = input.sym_sizes().vec();
    auto numbers = at::empty_symint(sizes, input.options().dtype(dtype));
    sizes.back() = 1;
    return std::tuple(numbers, at::empty_symint(sizes, input.options().dtype(at::kFloat)));
  });
  m.impl("round_blocks", [](const at::Tensor& input, std::int64_t, std::string_view, std::string_view,
                            const std::optional<at::Tensor>&) {
    return at::empty_symint(input.sym_sizes(), input.options());
  });
  m.impl("unpack_bits", [](const at::Tensor& packed, std::int64_t bits) {
    auto sizes = packed.sym_sizes().vec();
    sizes.back() = sizes.back() / bits * 8;
    return at::empty_symint(sizes, packed.options());
  });
  m.impl("dynamic_linear", [](const at::Tensor& input, const at::Tensor& weight, const at::Tensor&,
                              const std::optional<at::Tensor>&) {
    auto sizes = input.sym_sizes().vec();
    sizes.back() = weight.sym_size(0);
    return at::empty_symint(sizes, input.options());
  });
  m.impl("low_bit_adam_", [](const at::Tensor&, const at::Tensor&, at::TensorList, at::TensorList,
                             at::TensorList, const at::Tensor&, const at::Tensor&, double, double, double,
                             double, bool, bool, const std::optional<at::Generator>&) {});
}
