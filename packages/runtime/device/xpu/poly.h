// Polynomials and Chebyshev series with the coefficients spelled at the call.
#ifndef XPU_DEVICE_POLY_H
#define XPU_DEVICE_POLY_H
#include <xpu/core.h>

namespace xpu {

// c0 + c1 x + c2 x^2 + ..., by Horner's rule in fused steps.
template <class T> XPU_FN T poly(T, T c0) { return c0; }
template <class T, class... C> XPU_FN T poly(T x, T c0, C... rest) {
  return __spirv_ocl_fma(poly(x, (T)rest...), x, c0);
}

// c0/2 + c1 T1(x) + c2 T2(x) + ... for x in [-1, 1], by Clenshaw's recurrence: for the double forms,
// where the same polynomial in powers of x would cancel.
template <class T, int N> XPU_FN T chebyshev(T x, const T (&c)[N]) {
  T a = 0, b = 0;
  for (int i = N - 1; i > 0; --i) {
    T next = __spirv_ocl_fma((T)2 * x, a, c[i] - b);
    b = a;
    a = next;
  }
  return __spirv_ocl_fma(x, a, (T)0.5 * c[0] - b);
}

}  // namespace xpu

#endif
