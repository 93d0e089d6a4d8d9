// Functions of one tensor: the device library's, by PyTorch's names.
#include <ATen/ops/acos_meta.h>
#include <ATen/ops/acosh_meta.h>
#include <ATen/ops/asin_meta.h>
#include <ATen/ops/asinh_meta.h>
#include <ATen/ops/atan_meta.h>
#include <ATen/ops/atanh_meta.h>
#include <ATen/ops/bitwise_not_meta.h>
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

#include "ops/pointwise.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

// An operator, and what it computes: for reals, and for integers where that is something else.
#define UNARY(op, header, ...)                                                        \
  structured<at::meta::structured_##op, [](at::TensorIteratorBase& iter, auto&&...) { \
    static const Pointwise kernel({.name = #op, __VA_ARGS__, .headers = {header}});   \
    kernel(iter);                                                                     \
  }>(m, #op, #op ".out", #op "_")

#define REAL(...) .real = {__VA_ARGS__}
#define INTEGER(...) .integer = {__VA_ARGS__}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  UNARY(neg, "math", REAL("xpu::neg(a)"), INTEGER("-a"));
  UNARY(sign, "math", REAL("xpu::sign(a)"), INTEGER("(a > 0) - (a < 0)"));
  UNARY(sgn, "math", REAL("xpu::sign(a)"), INTEGER("(a > 0) - (a < 0)"));
  UNARY(ceil, "math", REAL("xpu::ceil(a)"), INTEGER("a"));
  UNARY(floor, "math", REAL("xpu::floor(a)"), INTEGER("a"));
  UNARY(round, "math", REAL("xpu::round_even(a)"), INTEGER("a"));
  UNARY(trunc, "math", REAL("xpu::trunc(a)"), INTEGER("a"));
  UNARY(frac, "math", REAL("xpu::frac(a)"));
  UNARY(sqrt, "math", REAL("xpu::sqrt(a)"));
  UNARY(rsqrt, "math", REAL("xpu::rsqrt(a)"));
  UNARY(reciprocal, "math", REAL("xpu::reciprocal(a)"));
  UNARY(exp, "exp", REAL("xpu::exp(a)"));
}

}  // namespace torch_xpu
