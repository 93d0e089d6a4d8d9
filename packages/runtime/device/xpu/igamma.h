// The regularized incomplete gamma functions: igamma(a, x) = P, igammac(a, x) = Q = 1 - P.
//
// P by its series where x is below a + 1, Q by its continued fraction above; for large a, where both
// would take ever more steps, the uniform expansion around x = a. The factor x^a e^-x / Gamma(a + 1)
// is computed through log1p so that its huge parts never meet.
#ifndef XPU_DEVICE_IGAMMA_H
#define XPU_DEVICE_IGAMMA_H
#include <xpu/erf.h>
#include <xpu/gamma.h>

namespace xpu {

// log(1 + d) - d without cancellation.
template <class T> XPU_FN T log1p_minus(T d) {
  if (__spirv_ocl_fabs(d) > (T)0.3) return log1p(d) - d;
  T term = -d * d, sum = (T)0.5 * term;
  for (int k = 3; k < 40; ++k) {
    term *= -d;
    T next = sum + term / (T)k;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

// x^a e^-x / Gamma(a + 1)
template <class T> XPU_FN T igamma_factor(T a, T x) {
  if (a < (T)10) return __spirv_ocl_exp(a * __spirv_ocl_log(x) - x - lgamma(a + (T)1));
  T z = (T)1 / a, w = z * z;
  T stirling = z * poly(w, (T)(1.0 / 12), (T)(-1.0 / 360), (T)(1.0 / 1260), (T)(-1.0 / 1680), (T)(1.0 / 1188));
  return __spirv_ocl_exp(a * log1p_minus((x - a) / a) - stirling) * (T)0.3989422804014327 * __spirv_ocl_rsqrt(a);
}

template <class T> XPU_FN T igamma_series(T a, T x) {
  T sum = 1, term = 1, n = a;
  for (int i = 0; i < 2000; ++i) {
    n += (T)1;
    term *= x / n;
    T next = sum + term;
    if (next == sum) break;
    sum = next;
  }
  return igamma_factor(a, x) * sum;
}

// Lentz's evaluation of 1 / (x + 1 - a - 1(1 - a) / (x + 3 - a - ...)), times a x^a e^-x / Gamma(a + 1).
template <class T> XPU_FN T igammac_fraction(T a, T x) {
  constexpr T kTiny = sizeof(T) == 8 ? (T)1e-290 : (T)1e-30, kDone = sizeof(T) == 8 ? (T)1e-16 : (T)3e-8;
  T b = x + (T)1 - a, c = (T)1 / kTiny, d = (T)1 / b, h = d;
  for (int i = 1; i < 2000; ++i) {
    T n = -(T)i * ((T)i - a);
    b += (T)2;
    d = n * d + b;
    d = __spirv_ocl_fabs(d) < kTiny ? kTiny : d;
    c = b + n / c;
    c = __spirv_ocl_fabs(c) < kTiny ? kTiny : c;
    d = (T)1 / d;
    T step = d * c;
    h *= step;
    if (__spirv_ocl_fabs(step - (T)1) < kDone) break;
  }
  return igamma_factor(a, x) * a * h;
}

// Temme's expansion for large a; upper asks for Q. The two-index table is in powers of 1/a and eta.
template <class T> XPU_FN T igamma_uniform(T a, T x, bool upper) {
  constexpr T kTable[4][10] = {
      {(T)-0.33333333333333333, (T)0.083333333333333333, (T)-0.014814814814814815, (T)0.0011574074074074074,
       (T)0.00035273368606701940, (T)-0.00017875514403292181, (T)0.000039192631785224378,
       (T)-0.0000021854485106799922, (T)-0.0000018540622107151600, (T)8.2967113409530860e-7},
      {(T)-0.0018518518518518519, (T)-0.0034722222222222222, (T)0.0026455026455026455, (T)-0.00099022633744855967,
       (T)0.00020576131687242798, (T)-4.0187757201646091e-7, (T)-0.000018098550334489978,
       (T)0.0000076491609160811101, (T)-0.0000016120900894563446, (T)4.6471278028074343e-9},
      {(T)0.0041335978835978836, (T)-0.0026813271604938272, (T)0.00077160493827160494, (T)2.0093878600823045e-6,
       (T)-0.00010736653226365161, (T)0.000052923448829120125, (T)-0.000012760635188618728,
       (T)3.4235787340961381e-8, (T)0.0000013721957309062933, (T)-6.2989921383800550e-7},
      {(T)0.00064943415637860082, (T)0.00022947209362139918, (T)-0.00046918949439525571, (T)0.00026772063206283885,
       (T)-0.000075618016718839764, (T)-2.3965051138672967e-7, (T)0.000011082654115347302,
       (T)-0.0000056749528269915966, (T)0.0000014230900732435884, (T)-2.7861080291528142e-11}};
  T d = (x - a) / a, phi = -log1p_minus(d);
  T eta = __spirv_ocl_sqrt((T)2 * phi);
  eta = d < (T)0 ? -eta : eta;
  T sum = 0, scale = 1;
  for (int k = 0; k < 4; ++k) {
    T row = kTable[k][9];
    for (int n = 8; n >= 0; --n) row = row * eta + kTable[k][n];
    sum += row * scale;
    scale /= a;
  }
  T rest = __spirv_ocl_exp(-a * phi) * (T)0.3989422804014327 * __spirv_ocl_rsqrt(a) * sum;
  T argument = eta * __spirv_ocl_sqrt((T)0.5 * a);
  return upper ? (T)0.5 * erfc(argument) + rest : (T)0.5 * erfc(-argument) - rest;
}

template <class T> XPU_FN T igamma_of(T a, T x, bool upper) {
  if (a != a || x != x || a < (T)0 || x < (T)0) return (T)nan();
  T none = upper ? (T)1 : (T)0, all = upper ? (T)0 : (T)1;
  if (a == (T)0) return x > (T)0 ? all : (T)nan();
  if (x == (T)0) return none;
  if (isinf(a)) return isinf(x) ? (T)nan() : none;
  if (isinf(x)) return all;
  if (a > (T)200 && __spirv_ocl_fabs(x - a) < (T)0.3 * a) return igamma_uniform(a, x, upper);
  if (x < a + (T)1) {
    T p = igamma_series(a, x);
    return upper ? (T)1 - p : p;
  }
  T q = igammac_fraction(a, x);
  return upper ? q : (T)1 - q;
}
XPU_MATH2(igamma, return igamma_of<T>(x, y, false);)
XPU_MATH2(igammac, return igamma_of<T>(x, y, true);)

}  // namespace xpu

#endif
