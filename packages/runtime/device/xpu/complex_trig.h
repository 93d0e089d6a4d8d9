// Complex circular and hyperbolic functions.
#ifndef XPU_DEVICE_COMPLEX_TRIG_H
#define XPU_DEVICE_COMPLEX_TRIG_H
#include <xpu/complex_exp.h>
#include <xpu/hyperbolic.h>

namespace xpu {

// i z and -i z, by which circular functions are computed from hyperbolic ones.
template <class T> XPU_FN Complex<T> times_i(Complex<T> z) { return {-z.im, z.re}; }
template <class T> XPU_FN Complex<T> times_minus_i(Complex<T> z) { return {z.im, -z.re}; }

// sinh x and cosh x, each as its value here times `more`, so that a factor below 1 comes before the overflow.
template <class T> struct SinhCosh {
  T sinh, cosh, more;
  XPU_FN explicit SinhCosh(T x) {
    T a = abs(x);
    bool big = a > exp_limit<T>;
    T e = expm1(big ? (T)0.5 * a : a), root = e + (T)1;
    T s = (T)0.5 * (e + e / root), c = (T)1 + (T)0.5 * e * (e / root);
    sinh = copysign(big ? (T)0.5 * root : s, x);
    cosh = big ? (T)0.5 * root : c;
    more = big ? root : (T)1;
  }
};

template <class T> XPU_FN Complex<T> sinh(Complex<T> z) {
  SinhCosh<T> h(z.re);
  T re = h.sinh * cos(z.im) * h.more, im = h.cosh * sin(z.im) * h.more;
  // Without an angle what is left is zero or infinity.
  re = !isfinite(z.im) && (z.re == (T)0 || isinf(z.re)) ? z.re : re;
  return {z.im == (T)0 ? h.sinh * h.more : re, z.im == (T)0 ? z.im : im};
}

template <class T> XPU_FN Complex<T> cosh(Complex<T> z) {
  SinhCosh<T> h(z.re);
  T re = h.cosh * cos(z.im) * h.more, im = h.sinh * sin(z.im) * h.more;
  re = !isfinite(z.im) && isinf(z.re) ? abs(z.re) : re;
  T flat = copysign((T)0, z.re) * copysign((T)1, z.im);
  return {z.im == (T)0 ? h.cosh * h.more : re, z.im == (T)0 || (z.re == (T)0 && !isfinite(z.im)) ? flat : im};
}

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): no sum here cancels.
template <class T> XPU_FN Complex<T> tanh(Complex<T> z) {
  constexpr T kFlat = (T)(sizeof(T) == 4 ? 11.0f : 22.0f);  // from here on the real part is 1
  T a = abs(z.re), s = sin(z.im), c = cos(z.im);
  bool flat = a > kFlat;
  SinhCosh<T> h(flat ? (T)0 : z.re);
  T d = h.sinh * h.sinh + c * c;
  T re = flat ? copysign((T)1, z.re) : h.sinh * h.cosh / d;
  T im = flat ? (T)4 * s * c * exp((T)-2 * a) : s * c / d;
  bool lost = !isfinite(z.im);
  re = lost && !isinf(z.re) ? (z.re == (T)0 ? z.re : (T)nan()) : re;
  im = lost && isinf(z.re) ? copysign((T)0, z.im) : im;
  return {re, z.im == (T)0 ? z.im : im};
}

template <class T> XPU_FN Complex<T> sin(Complex<T> z) { return times_minus_i(sinh(times_i(z))); }
template <class T> XPU_FN Complex<T> cos(Complex<T> z) { return cosh(times_i(z)); }
template <class T> XPU_FN Complex<T> tan(Complex<T> z) { return times_minus_i(tanh(times_i(z))); }

// sin(pi z) / (pi z), 1 near 0. pi y is taken to twice the precision: the error of e^(pi y) would grow with it.
template <class T> XPU_FN Complex<T> sinc(Complex<T> z) {
  constexpr bool kFloat = sizeof(T) == 4;
  constexpr T kHigh = (T)(kFloat ? 0x1.921fb6p1f : 0x1.921fb54442d18p1);
  constexpr T kLow = (T)(kFloat ? -0x1.777a5cp-24f : 0x1.1a62633145c07p-53);
  T y = z.im * kHigh, rest = fma(z.im, kHigh, -y) + z.im * kLow;
  SinhCosh<T> h(y);
  T grown_cosh = fma(h.sinh, rest, h.cosh), grown_sinh = fma(h.cosh, rest, h.sinh);
  Complex<T> r = Complex<T>(sinpi(z.re) * grown_cosh, cospi(z.re) * grown_sinh) / z * (T)0.31830988618379067154 * h.more;
  r.im = z.im == (T)0 ? (T)0 : r.im;
  return select(larger_part(z) < (T)(kFloat ? 0x1p-15f : 0x1p-30f), Complex<T>(1), r);
}

}  // namespace xpu

#endif
