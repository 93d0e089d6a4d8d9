// Functions of one tensor: the device library's, by PyTorch's names.
#include <ATen/ops/acos_meta.h>
#include <ATen/ops/acosh_meta.h>
#include <ATen/ops/asin_meta.h>
#include <ATen/ops/asinh_meta.h>
#include <ATen/ops/atan_meta.h>
#include <ATen/ops/atanh_meta.h>
#include <ATen/ops/ceil_meta.h>
#include <ATen/ops/cos_meta.h>
#include <ATen/ops/cosh_meta.h>
#include <ATen/ops/digamma_meta.h>
#include <ATen/ops/erf_meta.h>
#include <ATen/ops/erfc_meta.h>
#include <ATen/ops/erfinv_meta.h>
#include <ATen/ops/exp2_meta.h>
#include <ATen/ops/exp_meta.h>
#include <ATen/ops/expm1_meta.h>
#include <ATen/ops/floor_meta.h>
#include <ATen/ops/frac_meta.h>
#include <ATen/ops/i0_meta.h>
#include <ATen/ops/isneginf_meta.h>
#include <ATen/ops/isposinf_meta.h>
#include <ATen/ops/lgamma_meta.h>
#include <ATen/ops/log10_meta.h>
#include <ATen/ops/log1p_meta.h>
#include <ATen/ops/log2_meta.h>
#include <ATen/ops/log_meta.h>
#include <ATen/ops/neg_meta.h>
#include <ATen/ops/reciprocal_meta.h>
#include <ATen/ops/round_meta.h>
#include <ATen/ops/rsqrt_meta.h>
#include <ATen/ops/sgn_meta.h>
#include <ATen/ops/sigmoid_meta.h>
#include <ATen/ops/sign_meta.h>
#include <ATen/ops/signbit_meta.h>
#include <ATen/ops/sin_meta.h>
#include <ATen/ops/sinc_meta.h>
#include <ATen/ops/sinh_meta.h>
#include <ATen/ops/sqrt_meta.h>
#include <ATen/ops/tan_meta.h>
#include <ATen/ops/tanh_meta.h>
#include <ATen/ops/trunc_meta.h>

#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  POINTWISE(neg, {.real = {"xpu::neg(a)"}});
  POINTWISE(sign, {.real = {"xpu::sign(a)"}});
  POINTWISE(sgn, {.real = {"xpu::sign(a)"}, .complex = {"xpu::sgn(a)"}});
  POINTWISE(ceil, {.real = {"xpu::ceil(a)"}, .integer = {"a"}});
  POINTWISE(floor, {.real = {"xpu::floor(a)"}, .integer = {"a"}});
  POINTWISE(round, {.real = {"xpu::round_even(a)"}, .integer = {"a"}});
  POINTWISE(trunc, {.real = {"xpu::trunc(a)"}, .integer = {"a"}});
  POINTWISE(frac, {.real = {"xpu::frac(a)"}});
  POINTWISE(signbit, {.real = {"xpu::signbit(a)"}, .integer = {"a < 0"}});
  POINTWISE(isposinf, {.real = {"xpu::isposinf(a)"}, .integer = {"false"}});
  POINTWISE(isneginf, {.real = {"xpu::isneginf(a)"}, .integer = {"false"}});
  POINTWISE(sqrt, {.real = {"xpu::sqrt(a)"}});
  POINTWISE(rsqrt, {.real = {"xpu::rsqrt(a)"}});
  POINTWISE(reciprocal, {.real = {"xpu::reciprocal(a)"}});

  POINTWISE(exp, {.real = {"xpu::exp(a)"}, .headers = {"exp"}});
  POINTWISE(exp2, {.real = {"xpu::exp2(a)"}, .headers = {"exp"}});
  POINTWISE(expm1, {.real = {"xpu::expm1(a)"}, .headers = {"exp"}});
  POINTWISE(log, {.real = {"xpu::log(a)"}, .headers = {"exp"}});
  POINTWISE(log2, {.real = {"xpu::log2(a)"}, .headers = {"exp"}});
  POINTWISE(log10, {.real = {"xpu::log10(a)"}, .headers = {"exp"}});
  POINTWISE(log1p, {.real = {"xpu::log1p(a)"}, .headers = {"exp"}});
  POINTWISE(sigmoid, {.real = {"xpu::logistic(a)"}, .headers = {"exp"}});

  POINTWISE(sin, {.real = {"xpu::sin(a)"}, .headers = {"trig"}});
  POINTWISE(cos, {.real = {"xpu::cos(a)"}, .headers = {"trig"}});
  POINTWISE(tan, {.real = {"xpu::tan(a)"}, .headers = {"trig"}});
  POINTWISE(asin, {.real = {"xpu::asin(a)"}, .headers = {"trig"}});
  POINTWISE(acos, {.real = {"xpu::acos(a)"}, .headers = {"trig"}});
  POINTWISE(atan, {.real = {"xpu::atan(a)"}, .headers = {"trig"}});
  POINTWISE(sinc, {.real = {"xpu::sinc(a)"}, .headers = {"trig"}});
  POINTWISE(sinh, {.real = {"xpu::sinh(a)"}, .headers = {"hyperbolic"}});
  POINTWISE(cosh, {.real = {"xpu::cosh(a)"}, .headers = {"hyperbolic"}});
  POINTWISE(tanh, {.real = {"xpu::tanh(a)"}, .headers = {"hyperbolic"}});
  POINTWISE(asinh, {.real = {"xpu::asinh(a)"}, .headers = {"hyperbolic"}});
  POINTWISE(acosh, {.real = {"xpu::acosh(a)"}, .headers = {"hyperbolic"}});
  POINTWISE(atanh, {.real = {"xpu::atanh(a)"}, .headers = {"hyperbolic"}});

  POINTWISE(erf, {.real = {"xpu::erf(a)"}, .headers = {"erf"}});
  POINTWISE(erfc, {.real = {"xpu::erfc(a)"}, .headers = {"erf"}});
  POINTWISE(erfinv, {.real = {"xpu::erfinv(a)"}, .headers = {"erf"}});
  POINTWISE(lgamma, {.real = {"xpu::lgamma(a)"}, .headers = {"gamma"}});
  POINTWISE(digamma, {.real = {"xpu::digamma(a)"}, .headers = {"gamma"}});
  POINTWISE(i0, {.real = {"xpu::i0(a)"}, .headers = {"modified_bessel"}});
}

}  // namespace torch_xpu
