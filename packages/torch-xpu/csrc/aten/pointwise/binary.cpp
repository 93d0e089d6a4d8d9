// Arithmetic and functions of two tensors.
#include <ATen/ops/add_meta.h>
#include <ATen/ops/atan2_meta.h>
#include <ATen/ops/copysign_meta.h>
#include <ATen/ops/div_meta.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/fmax_meta.h>
#include <ATen/ops/fmin_meta.h>
#include <ATen/ops/fmod_meta.h>
#include <ATen/ops/gcd_meta.h>
#include <ATen/ops/heaviside_meta.h>
#include <ATen/ops/hypot_meta.h>
#include <ATen/ops/igamma_meta.h>
#include <ATen/ops/igammac_meta.h>
#include <ATen/ops/lcm_meta.h>
#include <ATen/ops/logaddexp2_meta.h>
#include <ATen/ops/logaddexp_meta.h>
#include <ATen/ops/maximum_meta.h>
#include <ATen/ops/minimum_meta.h>
#include <ATen/ops/mul_meta.h>
#include <ATen/ops/nextafter_meta.h>
#include <ATen/ops/remainder_meta.h>
#include <ATen/ops/remainder_native.h>
#include <ATen/ops/rsub_native.h>
#include <ATen/ops/sub_meta.h>
#include <ATen/ops/xlogy_meta.h>

#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using at::TensorIterator;
using at::TensorIteratorBase;

// PyTorch's own check asks the output's dtype, here as on CUDA: a factor is brought to the inputs'.
void check_factor(const TensorIteratorBase& iter, const Scalar& alpha) {
  TORCH_CHECK(alpha.isIntegral(true) || !at::isIntegralType(iter.common_dtype(), true),
              "For integral input tensors, argument alpha must not be a floating point number.");
}

void add(TensorIteratorBase& iter, const Tensor&, const Tensor&, const Scalar& alpha) {
  static const Pointwise sum("add", {.real = {"a + b"}}), scaled("add_scaled", {.real = {"a + p * b"}});
  check_factor(iter, alpha);
  alpha.equal(1) ? sum(iter) : scaled(iter, alpha);
}

void sub(TensorIteratorBase& iter, const Tensor&, const Tensor&, const Scalar& alpha) {
  static const Pointwise difference("sub", {.real = {"a - b"}}),
      scaled("sub_scaled", {.real = {"a - p * b"}});
  check_factor(iter, alpha);
  alpha.equal(1) ? difference(iter) : scaled(iter, alpha);
}

void quotient(TensorIteratorBase& iter) {
  static const Pointwise kernel("div", {.real = {"a / b"}});
  kernel(iter);
}
void floor_quotient(TensorIteratorBase& iter) {
  static const Pointwise kernel("floor_divide", {.real = {"xpu::floor_div(a, b)"}});
  kernel(iter);
}
void truncated_quotient(TensorIteratorBase& iter) {
  static const Pointwise kernel("trunc_divide", {.real = {"xpu::trunc_div(a, b)"}});
  kernel(iter);
}

void div_mode(TensorIteratorBase& iter, const Tensor&, const Tensor&, std::optional<c10::string_view> mode) {
  if (!mode)
    quotient(iter);
  else if (*mode == "floor")
    floor_quotient(iter);
  else
    truncated_quotient(iter);
}

Tensor floor_divide(const Tensor& a, const Tensor& b) {
  auto guard = guard_for(a, b);
  Tensor result;
  auto iter = TensorIterator::binary_op(result, a, b);
  floor_quotient(iter);
  return iter.output();
}
Tensor& floor_divide_out(const Tensor& a, const Tensor& b, Tensor& out) {
  auto guard = guard_for(a, b);
  auto iter = TensorIterator::binary_op(out, a, b);
  floor_quotient(iter);
  return out;
}
Tensor& floor_divide_(Tensor& a, const Tensor& b) {
  return floor_divide_out(a, b, a);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_add_Tensor, add>(m, "add.Tensor", "add.out", "add_.Tensor");
  structured<at::meta::structured_sub_Tensor, sub>(m, "sub.Tensor", "sub.out", "sub_.Tensor");
  m.impl("rsub.Tensor",
         static_cast<Tensor (*)(const Tensor&, const Tensor&, const Scalar&)>(at::native::rsub));
  POINTWISE_TENSOR(mul, {.real = {"a * b"}});
  structured<at::meta::structured_div_Tensor, [](TensorIteratorBase& iter, auto&&...) { quotient(iter); }>(
      m, "div.Tensor", "div.out", "div_.Tensor");
  structured<at::meta::structured_div_Tensor_mode, div_mode>(m, "div.Tensor_mode", "div.out_mode",
                                                             "div_.Tensor_mode");
  m.impl("floor_divide", floor_divide);
  m.impl("floor_divide.out", floor_divide_out);
  m.impl("floor_divide_.Tensor", floor_divide_);

  POINTWISE_TENSOR_OUT(remainder, {.real = {"xpu::remainder(a, b)"}});
  m.impl("remainder.Scalar_Tensor",
         static_cast<Tensor (*)(const Scalar&, const Tensor&)>(at::native::remainder));
  POINTWISE_TENSOR_OUT(fmod, {.real = {"xpu::fmod(a, b)"}});
  POINTWISE_FUNCTION(maximum, {.real = {"xpu::maximum(a, b)"}});
  POINTWISE_FUNCTION(minimum, {.real = {"xpu::minimum(a, b)"}});
  POINTWISE_FUNCTION(fmax, {.real = {"xpu::fmax(a, b)"}, .integer = {"xpu::maximum(a, b)"}});
  POINTWISE_FUNCTION(fmin, {.real = {"xpu::fmin(a, b)"}, .integer = {"xpu::minimum(a, b)"}});
  POINTWISE_TENSOR(copysign, {.real = {"xpu::copysign(a, b)"}});
  POINTWISE(heaviside, {.real = {"a == (T)0 ? b : T(a > (T)0)"}});
  POINTWISE(hypot, {.real = {"xpu::hypot(a, b)"}});
  POINTWISE(nextafter, {.real = {"xpu::nextafter(a, b)"}});
  POINTWISE(atan2, {.real = {"xpu::atan2(a, b)"}, .headers = {"trig"}});
  POINTWISE(gcd, {.real = {}, .integer = {"xpu::gcd(a, b)"}});
  POINTWISE(lcm, {.real = {}, .integer = {"xpu::lcm(a, b)"}});
  POINTWISE_FUNCTION(logaddexp, {.real = {"xpu::logaddexp(a, b)"}, .headers = {"exp"}});
  POINTWISE_FUNCTION(logaddexp2, {.real = {"xpu::logaddexp2(a, b)"}, .headers = {"exp"}});
  POINTWISE_FORMS(xlogy, xlogy_Tensor, xlogy.Tensor, "xlogy.OutTensor", "xlogy_.Tensor",
                  {.real = {"xpu::xlogy(a, b)"}, .headers = {"exp"}});
  POINTWISE(igamma, {.real = {"xpu::igamma(a, b)"}, .headers = {"igamma"}});
  POINTWISE(igammac, {.real = {"xpu::igammac(a, b)"}, .headers = {"igamma"}});
}

}  // namespace torch_xpu
