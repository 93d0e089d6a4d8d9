// torch.special: functions of the device library, and polynomials by their recurrences.
#include <ATen/ops/mvlgamma_native.h>
#include <ATen/ops/special_bessel_j0_meta.h>
#include <ATen/ops/special_bessel_j1_meta.h>
#include <ATen/ops/special_bessel_y0_meta.h>
#include <ATen/ops/special_bessel_y1_meta.h>
#include <ATen/ops/special_chebyshev_polynomial_t_meta.h>
#include <ATen/ops/special_chebyshev_polynomial_u_meta.h>
#include <ATen/ops/special_chebyshev_polynomial_v_meta.h>
#include <ATen/ops/special_chebyshev_polynomial_w_meta.h>
#include <ATen/ops/special_entr_meta.h>
#include <ATen/ops/special_erfcx_meta.h>
#include <ATen/ops/special_hermite_polynomial_h_meta.h>
#include <ATen/ops/special_hermite_polynomial_he_meta.h>
#include <ATen/ops/special_i0e_meta.h>
#include <ATen/ops/special_i1_meta.h>
#include <ATen/ops/special_i1e_meta.h>
#include <ATen/ops/special_laguerre_polynomial_l_meta.h>
#include <ATen/ops/special_legendre_polynomial_p_meta.h>
#include <ATen/ops/special_log_ndtr_meta.h>
#include <ATen/ops/special_modified_bessel_i0_meta.h>
#include <ATen/ops/special_modified_bessel_i1_meta.h>
#include <ATen/ops/special_modified_bessel_k0_meta.h>
#include <ATen/ops/special_modified_bessel_k1_meta.h>
#include <ATen/ops/special_ndtri_meta.h>
#include <ATen/ops/special_scaled_modified_bessel_k0_meta.h>
#include <ATen/ops/special_scaled_modified_bessel_k1_meta.h>
#include <ATen/ops/special_shifted_chebyshev_polynomial_t_meta.h>
#include <ATen/ops/special_shifted_chebyshev_polynomial_u_meta.h>
#include <ATen/ops/special_shifted_chebyshev_polynomial_v_meta.h>
#include <ATen/ops/special_shifted_chebyshev_polynomial_w_meta.h>
#include <ATen/ops/special_spherical_bessel_j0_meta.h>
#include <ATen/ops/special_xlog1py_meta.h>
#include <ATen/ops/special_zeta_meta.h>
#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

// Orthogonal polynomials of degree n, a whole number that comes as a float; negative degrees give 0.
constexpr const char* kPolynomials = R"(
// p(k+1) = (u(k) x + v(k)) p(k) - w(k) p(k-1)
template <class T, class Step> XPU_FN T recurrence(T zeroth, T first, T n, Step step) {
  if (n < (T)0) return (T)0;
  if (n != n) return n;
  if (n < (T)1) return zeroth;
  T before = zeroth, now = first;
  i32 degree = n > (T)100000 ? 100000 : (i32)n;
  for (i32 k = 1; k < degree && now == now; ++k) {
    T next = step((T)k, now, before);
    before = now;
    now = next;
  }
  return now;
}
// All four kinds of Chebyshev differ in the polynomial of degree 1. Inside (-1, 1) high degrees are cosines, which
// do not gather rounding errors.
template <class T> XPU_FN T chebyshev(T x, T first, T n) {
  return recurrence((T)1, first, n, [=](T, T now, T before) { return (x + x) * now - before; });
}
template <class T> XPU_FN bool oscillates(T x, T n) { return n > (T)6 && xpu::abs(x) < (T)1; }
template <class T> XPU_FN T chebyshev_t(T x, T n) {
  n = xpu::trunc(n);
  return oscillates(x, n) ? xpu::cos(n * xpu::acos(x)) : chebyshev(x, x, n);
}
template <class T> XPU_FN T chebyshev_u(T x, T n) {
  n = xpu::trunc(n);
  T angle = xpu::acos(x);
  return oscillates(x, n) ? xpu::sin((n + (T)1) * angle) / xpu::sin(angle) : chebyshev(x, x + x, n);
}
template <class T> XPU_FN T chebyshev_v(T x, T n) {
  n = xpu::trunc(n);
  T half = xpu::acos(x) * (T)0.5;
  return oscillates(x, n) ? xpu::cos((n + n + (T)1) * half) / xpu::cos(half) : chebyshev(x, x + x - (T)1, n);
}
template <class T> XPU_FN T chebyshev_w(T x, T n) {
  n = xpu::trunc(n);
  T half = xpu::acos(x) * (T)0.5;
  return oscillates(x, n) ? xpu::sin((n + n + (T)1) * half) / xpu::sin(half) : chebyshev(x, x + x + (T)1, n);
}
template <class T> XPU_FN T hermite_h(T x, T n) {
  return recurrence((T)1, x + x, xpu::trunc(n), [=](T k, T now, T before) { return (x + x) * now - (k + k) * before; });
}
template <class T> XPU_FN T hermite_he(T x, T n) {
  return recurrence((T)1, x, xpu::trunc(n), [=](T k, T now, T before) { return x * now - k * before; });
}
template <class T> XPU_FN T laguerre_l(T x, T n) {
  return recurrence((T)1, (T)1 - x, xpu::trunc(n), [=](T k, T now, T before) {
    return ((k + k + (T)1 - x) * now - k * before) / (k + (T)1);
  });
}
template <class T> XPU_FN T legendre_p(T x, T n) {
  return recurrence((T)1, x, xpu::trunc(n), [=](T k, T now, T before) {
    return ((k + k + (T)1) * x * now - k * before) / (k + (T)1);
  });
}
)";

}  // namespace

#define SPECIAL(op, header, expression) \
  POINTWISE_FUNCTION(special_##op, {.real = {expression}, .headers = {header}})
#define POLYNOMIAL(op, expression) \
  POINTWISE_FUNCTION(special_##op, {.real = {expression}, .headers = {"trig"}, .helpers = kPolynomials})

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("mvlgamma.out", at::native::mvlgamma_out);
  SPECIAL(entr, "exp", "xpu::entr(a)");
  SPECIAL(xlog1py, "exp", "xpu::xlog1py(a, b)");
  SPECIAL(erfcx, "erf", "xpu::erfcx(a)");
  SPECIAL(ndtri, "erf", "xpu::ndtri(a)");
  SPECIAL(log_ndtr, "erf", "xpu::log_ndtr(a)");
  SPECIAL(zeta, "zeta", "xpu::zeta(a, b)");
  SPECIAL(bessel_j0, "bessel", "xpu::j0(a)");
  SPECIAL(bessel_j1, "bessel", "xpu::j1(a)");
  SPECIAL(bessel_y0, "bessel", "xpu::y0(a)");
  SPECIAL(bessel_y1, "bessel", "xpu::y1(a)");
  SPECIAL(spherical_bessel_j0, "bessel", "xpu::spherical_j0(a)");
  SPECIAL(i0e, "modified_bessel", "xpu::i0e(a)");
  SPECIAL(i1, "modified_bessel", "xpu::i1(a)");
  SPECIAL(i1e, "modified_bessel", "xpu::i1e(a)");
  SPECIAL(modified_bessel_i0, "modified_bessel", "xpu::i0(a)");
  SPECIAL(modified_bessel_i1, "modified_bessel", "xpu::i1(a)");
  SPECIAL(modified_bessel_k0, "modified_bessel", "xpu::k0(a)");
  SPECIAL(modified_bessel_k1, "modified_bessel", "xpu::k1(a)");
  SPECIAL(scaled_modified_bessel_k0, "modified_bessel", "xpu::k0e(a)");
  SPECIAL(scaled_modified_bessel_k1, "modified_bessel", "xpu::k1e(a)");

  POLYNOMIAL(chebyshev_polynomial_t, "chebyshev_t(a, b)");
  POLYNOMIAL(chebyshev_polynomial_u, "chebyshev_u(a, b)");
  POLYNOMIAL(chebyshev_polynomial_v, "chebyshev_v(a, b)");
  POLYNOMIAL(chebyshev_polynomial_w, "chebyshev_w(a, b)");
  POLYNOMIAL(shifted_chebyshev_polynomial_t, "chebyshev_t(a + a - T(1), b)");
  POLYNOMIAL(shifted_chebyshev_polynomial_u, "chebyshev_u(a + a - T(1), b)");
  POLYNOMIAL(shifted_chebyshev_polynomial_v, "chebyshev_v(a + a - T(1), b)");
  POLYNOMIAL(shifted_chebyshev_polynomial_w, "chebyshev_w(a + a - T(1), b)");
  POLYNOMIAL(hermite_polynomial_h, "hermite_h(a, b)");
  POLYNOMIAL(hermite_polynomial_he, "hermite_he(a, b)");
  POLYNOMIAL(laguerre_polynomial_l, "laguerre_l(a, b)");
  POLYNOMIAL(legendre_polynomial_p, "legendre_p(a, b)");
}

}  // namespace torch_xpu
