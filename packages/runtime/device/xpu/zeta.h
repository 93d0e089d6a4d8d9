// The Hurwitz zeta function, and the higher derivatives of log Gamma, which it gives.
#ifndef XPU_DEVICE_ZETA_H
#define XPU_DEVICE_ZETA_H
#include <xpu/gamma.h>

namespace xpu {

// The sum over i >= 0 of (q + i)^-s: the first terms one by one, the rest by Euler and Maclaurin.
// For s <= 1 (1 itself is a pole) and for q <= 0 what PyTorch and SciPy give.
template <class T> XPU_FN T zeta_of(T s, T q) {
  if (s == (T)1) return (T)infinity();
  if (s < (T)1 || s != s || q != q) return (T)nan();
  if (q <= (T)0) {
    if (q == __spirv_ocl_floor(q)) return (T)infinity();
    if (s != __spirv_ocl_floor(s)) return (T)nan();
  }
  T a = q, sum = 0;
  for (int i = 0; i < 9 || a <= (T)9; ++i) {
    T term = __spirv_ocl_pow(a, -s);
    sum += term;
    a += (T)1;
    if (i > 9 && __spirv_ocl_fabs(term) < __spirv_ocl_fabs(sum) * (T)1e-17) return sum;
  }
  T power = __spirv_ocl_pow(a, -s);
  // Of large q the integral is a number where q^-s is none any more.
  T integral = power < (T)1e-30 ? __spirv_ocl_pow(a, (T)1 - s) : a * power;
  sum += integral / (s - (T)1) + (T)0.5 * power;
  // Bernoulli numbers B2k over (2k)!
  constexpr T kBernoulli[] = {(T)(1.0 / 12),
                              (T)(-1.0 / 720),
                              (T)(1.0 / 30240),
                              (T)(-1.0 / 1209600),
                              (T)(1.0 / 47900160),
                              (T)(-691.0 / 1307674368000),
                              (T)(1.0 / 74724249600),
                              (T)(-3617.0 / 10670622842880000.0)};
  T rising = s * power / a, k = s;
  for (int i = 0; i < 8; ++i) {
    T term = kBernoulli[i] * rising;
    sum += term;
    if (__spirv_ocl_fabs(term) <= __spirv_ocl_fabs(sum) * (T)1e-17) break;
    rising *= (k + (T)1) / a * ((k + (T)2) / a);
    k += (T)2;
  }
  return sum;
}
XPU_MATH2(zeta, return zeta_of<T>(x, y);)

// The n-th derivative of digamma at x, n a whole number of at least 0; otherwise NaN.
template <class T> XPU_FN T polygamma_of(T n, T x) {
  if (n == (T)0) return digamma(x);
  if (n == (T)1) return trigamma(x);
  if (!(n >= (T)0) || n != __spirv_ocl_floor(n)) return (T)nan();
  T factorial = 1;
  for (T i = 2; i <= n && factorial < (T)infinity(); i += (T)1) factorial *= i;
  T r = factorial * zeta_of<T>(n + (T)1, x);
  bool even = __spirv_ocl_fmod(n, (T)2) == (T)0;
  return even ? -r : r;
}
XPU_MATH2(polygamma, return polygamma_of<T>(x, y);)

}  // namespace xpu

#endif
