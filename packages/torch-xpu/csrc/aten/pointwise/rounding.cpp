// Functions that take a number apart, round it or replace it, with an argument or a second result.
#include <ATen/Dispatch.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/polygamma_meta.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/round_meta.h>
#include <ATen/ops/view_as_real.h>

#include <limits>

#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using at::TensorIteratorBase;

void polygamma(TensorIteratorBase& iter, std::int64_t n, const Tensor&) {
  static const Pointwise digamma("digamma", {.real = {"xpu::digamma(a)"}, .headers = {"gamma"}}),
      any("polygamma", {.real = {"xpu::polygamma(p, a)"}, .headers = {"zeta"}});
  n == 0 ? digamma(iter) : any(iter, Scalar(n));
}

void round_decimals(TensorIteratorBase& iter, const Tensor&, std::int64_t decimals) {
  static const Pointwise kernel("round_decimals", {.real = {"xpu::round_decimals(a, p)"}});
  kernel(iter, Scalar(decimals));
}

// Whole exponents are added to those of floats, which no power of two between overflows or loses.
Tensor& ldexp_out(const Tensor& self, const Tensor& exponent, Tensor& out) {
  static const Pointwise kernel("ldexp", {.real = {"__spirv_ocl_ldexp(a, (i32)b)"}, .unconverted_inputs = 2});
  auto guard = guard_for(self, exponent, out);
  auto type = self.scalar_type();
  if (!at::isFloatingType(type) || !at::isIntegralType(exponent.scalar_type(), false))
    return at::mul_out(out, self, at::pow(2.0, exponent));
  auto iter = at::TensorIteratorConfig()
                  .check_all_same_dtype(false)
                  .allow_cpu_scalars(true)
                  .set_check_mem_overlap(true)
                  .declare_static_dtype(type)
                  .add_output(out)
                  .add_const_input(self)
                  .add_const_input(exponent)
                  .build();
  TORCH_CHECK(at::canCast(type, iter.output().scalar_type()), "result type ", type,
              " can't be cast to the desired output type ", iter.output().scalar_type());
  kernel(iter, {}, type);
  if (!out.defined()) out = iter.output();
  return out;
}
Tensor ldexp(const Tensor& self, const Tensor& exponent) {
  if (!at::isFloatingType(self.scalar_type()) || !at::isIntegralType(exponent.scalar_type(), false))
    return at::mul(self, at::pow(2.0, exponent));
  Tensor out;
  return ldexp_out(self, exponent, out);
}
Tensor& ldexp_in_place(Tensor& self, const Tensor& exponent) {
  return ldexp_out(self, exponent, self);
}

std::tuple<Tensor&, Tensor&> frexp_out(const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  static const Pointwise kernel(
      "frexp", {.real = {"__spirv_ocl_ldexp(a, -e)", "e"},
                .body = "i32 e = a == T(0) || !xpu::isfinite(a) ? 0 : (i32)xpu::logb(a) + 1;"});
  auto guard = guard_for(self);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "torch.frexp() only supports floating-point dtypes");
  TORCH_CHECK(mantissa.scalar_type() == self.scalar_type(), "torch.frexp() expects mantissa to have dtype ",
              self.scalar_type(), " but got ", mantissa.scalar_type());
  TORCH_CHECK(exponent.scalar_type() == at::kInt, "torch.frexp() expects exponent to have int dtype but got ",
              exponent.scalar_type());
  auto iter = at::TensorIteratorConfig()
                  .check_all_same_dtype(false)
                  .add_output(mantissa)
                  .add_output(exponent)
                  .add_const_input(self)
                  .build();
  kernel(iter, {}, self.scalar_type());
  return {mantissa, exponent};
}
std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  auto mantissa = at::empty_like(self), exponent = at::empty_like(self, self.options().dtype(at::kInt));
  frexp_out(self, mantissa, exponent);
  return {mantissa, exponent};
}

// The largest finite number of a dtype.
double largest_finite(at::ScalarType type) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "nan_to_num", [] {
    return static_cast<double>(std::numeric_limits<scalar_t>::max());
  });
}

Tensor& nan_to_num_out(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                       std::optional<double> neginf, Tensor& out) {
  static const Pointwise kernel(
      "nan_to_num", {.real = {"a != a ? p : xpu::isinf(a) ? (a > T(0) ? q : r) : a"}, .integer = {"a"}});
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), "nan_to_num: dtype of out: ", out.scalar_type(),
              " should be same as input: ", self.scalar_type());
  auto guard = guard_for(self);
  if (self.is_complex()) {
    at::native::resize_output(out, self.sizes());
    auto parts = at::view_as_real(out);
    nan_to_num_out(at::view_as_real(self), nan, posinf, neginf, parts);
    return out;
  }
  auto iter = at::TensorIterator::unary_op(out, self);
  double largest = at::isFloatingType(self.scalar_type()) ? largest_finite(self.scalar_type()) : 0;
  if (!at::isFloatingType(self.scalar_type())) nan = posinf = neginf = 0;
  kernel(iter, {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)});
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_polygamma, polygamma>(m, "polygamma", "polygamma.out");
  structured<at::meta::structured_round_decimals, round_decimals>(m, "round.decimals", "round.decimals_out",
                                                                  "round_.decimals");
  m.impl("frexp.Tensor", frexp);
  m.impl("ldexp.Tensor", ldexp);
  m.impl("ldexp.out", ldexp_out);
  m.impl("ldexp_", ldexp_in_place);
  m.impl("frexp.Tensor_out", frexp_out);
  m.impl("nan_to_num.out", nan_to_num_out);
}

}  // namespace torch_xpu
