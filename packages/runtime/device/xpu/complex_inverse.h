// Complex inverse circular and hyperbolic functions.
//
// Worked out in the first quadrant, where the signs of zero play no part, and mirrored from there. Kahan's formulas:
// with a - i b = sqrt(1 - z) and c + i d = sqrt(1 + z), none of these negative, no sum of their products cancels.
#ifndef XPU_DEVICE_COMPLEX_INVERSE_H
#define XPU_DEVICE_COMPLEX_INVERSE_H
#include <xpu/complex_trig.h>

namespace xpu {

// From this magnitude on 1 is nothing beside z^2.
template <class T> constexpr T one_is_lost = (T)(sizeof(T) == 4 ? 0x1p30f : 0x1p60);

// The larger part of the square root of u + i y; the other one is y / (2 larger). sqrt(1/2) stands outside because half
// a subnormal number may not be one.
template <class T> XPU_FN T larger_root(T u, T y) {
  return (T)0.70710678118654752440 * sqrt(abs(u) + hypot(u, y));
}

// asin and acos of x + i y for x, y >= 0 have these real parts, and this imaginary part but for its sign.
template <class T> struct ArcSine {
  T asin_re, acos_re, im;
  XPU_FN ArcSine(T x, T y) {
    bool far = x > one_is_lost<T> || y > one_is_lost<T>;
    T u = far ? (T)1 : (T)1 - x, v = far ? (T)1 : (T)1 + x, t = far ? (T)0 : y;
    T large = larger_root(u, t), c = larger_root(v, t);
    T small = large == (T)0 ? (T)0 : t / ((T)2 * large), d = t / ((T)2 * c);
    T a = u < (T)0 ? small : large, b = u < (T)0 ? large : small;
    asin_re = atan2(x, far ? y : a * c + b * d);
    acos_re = far ? atan2(y, x) : (T)2 * atan2(a, c);
    im = far ? log_abs(Complex<T>(x, y)) + (T)0.69314718055994530942 : asinh(a * d + b * c);
  }
};

template <class T> XPU_FN Complex<T> asin(Complex<T> z) {
  ArcSine<T> r(abs(z.re), abs(z.im));
  return {z.re == (T)0 ? z.re : copysign(r.asin_re, z.re), copysign(r.im, z.im)};
}

template <class T> XPU_FN Complex<T> acos(Complex<T> z) {
  constexpr T kPi = (T)3.14159265358979323846, kPiLow = (T)(sizeof(T) == 4 ? -8.74227766e-8f : 1.2246467991473532e-16);
  ArcSine<T> r(abs(z.re), abs(z.im));
  T re = signbit(z.re) ? (kPi - r.acos_re) + kPiLow : r.acos_re;
  return {z.re == (T)0 ? (T)0.5 * kPi : re, copysign(r.im, -z.im)};
}

template <class T> XPU_FN Complex<T> asinh(Complex<T> z) { return times_minus_i(asin(times_i(z))); }

template <class T> XPU_FN Complex<T> acosh(Complex<T> z) {
  Complex<T> r = acos(z);
  return {abs(r.im), copysign(r.re, z.im)};
}

template <class T> XPU_FN Complex<T> atanh(Complex<T> z) {
  constexpr T kHalfPi = (T)1.57079632679489661923;
  T x = abs(z.re), y = abs(z.im), complement = (T)1 - x;
  T distance = hypot(complement, y), magnitude = hypot(x, y);
  bool far = larger_part(z) > one_is_lost<T>;
  bool close = distance * one_is_lost<T> < (T)1;  // to 1, where the square of the distance may underflow
  T d = far || close ? (T)1 : distance;
  T re = (T)0.25 * log1p((T)4 * x / (d * d));
  re = far ? isinf(z) ? (T)0 : x / magnitude / magnitude : re;
  re = close ? (T)0.5 * ((T)0.69314718055994530942 - log_abs(Complex<T>(complement, y))) : re;
  T im = (T)0.5 * atan2((T)2 * y, complement * ((T)1 + x) - y * y);
  im = far && (isinf(y) || (x == x && y == y)) ? kHalfPi : im;
  // A NaN's sign means nothing, and backends differ in it.
  return {z.re == (T)0 ? z.re : isnan(z.re) ? re : copysign(re, z.re), copysign(im, z.im)};
}

template <class T> XPU_FN Complex<T> atan(Complex<T> z) {
  Complex<T> r = times_minus_i(atanh(times_i(z)));
  return {r.re, isnan(z.im) ? abs(r.im) : r.im};
}

}  // namespace xpu

#endif
