// Powers: the exponents that everybody uses are products and roots.
#include <ATen/ScalarOps.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/pow_meta.h>
#include <ATen/ops/scalar_tensor.h>

#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using at::TensorIteratorBase;

const Pointwise& special_power(double exponent) {
  static const Pointwise square("square", {.real = {"a * a"}}), cube("cube", {.real = {"a * a * a"}}),
      root("sqrt", {.real = {"xpu::sqrt(a)"}}), inverse_root("rsqrt", {.real = {"xpu::rsqrt(a)"}}),
      inverse("reciprocal", {.real = {"T(1) / a"}}),
      inverse_square("inverse_square", {.real = {"T(1) / (a * a)"}});
  static const Pointwise any("pow_scalar", {.real = {"xpu::pow(a, p)"}, .headers = {"exp"}});
  return exponent == 2      ? square
         : exponent == 3    ? cube
         : exponent == 0.5  ? root
         : exponent == -0.5 ? inverse_root
         : exponent == -1   ? inverse
         : exponent == -2   ? inverse_square
                            : any;
}

void pow_scalar(TensorIteratorBase& iter, const Tensor& base, const Scalar& exponent) {
  auto& out = iter.output();
  if (exponent.equal(0.0) || exponent.equal(false)) {
    out.fill_(1);
  } else if (exponent.equal(1.0) || exponent.equal(true)) {
    out.copy_(base);
  } else {
    // Integers may wrap in products but have no roots or inverses.
    bool whole = at::isIntegralType(iter.common_dtype(), true);
    double value = exponent.isComplex() || (whole && exponent.toDouble() < 2) ? 0.0 : exponent.toDouble();
    special_power(value)(iter, exponent);
  }
}

// A number as the base: PyTorch's meta function has given the result its dtype.
void pow_of_scalar(auto& op, const Scalar& base, const Tensor& exponent) {
  auto out = op.output();
  if (base.equal(1.0)) {
    out.fill_(1);
    return;
  }
  auto number = at::scalar_tensor(base, at::TensorOptions(base.type()));
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  at::pow_out(out, number, exponent);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  POINTWISE_FORMS(pow, pow_Tensor_Tensor, pow.Tensor_Tensor, "pow.Tensor_Tensor_out", "pow_.Tensor",
                  {.real = {"xpu::pow(a, b)"}, .headers = {"exp"}});
  structured<at::meta::structured_pow_Tensor_Scalar, pow_scalar>(m, "pow.Tensor_Scalar",
                                                                 "pow.Tensor_Scalar_out", "pow_.Scalar");
  structured<at::meta::structured_pow_Scalar, [](auto& op, auto&&... args) { pow_of_scalar(op, args...); }>(
      m, "pow.Scalar", "pow.Scalar_out");
}

}  // namespace torch_xpu
