// Complex exponentials, logarithms and powers.
#ifndef XPU_DEVICE_COMPLEX_EXP_H
#define XPU_DEVICE_COMPLEX_EXP_H
#include <xpu/complex_basic.h>
#include <xpu/exp.h>

namespace xpu {

// Where e^x is about to overflow: from there on it is squared from e^(x/2), as a factor below 1 may bring it back.
template <class T> constexpr T exp_limit = (T)(sizeof(T) == 4 ? 88.0f : 709.0f);

// root (c + i s), or root^2 (c + i s), for the cosine and sine of `phase`; x is the exponent behind root.
template <class T> XPU_FN Complex<T> rotated(T x, T root, bool squared, T phase, T c, T s) {
  T more = squared ? root : (T)1;
  T re = root * c * more, im = root * s * more;
  bool lost = !isfinite(phase) && isinf(x);  // no angle: infinite one way or the other, or zero
  re = lost ? (x < (T)0 ? (T)0 : x) : re;
  im = lost && x < (T)0 ? (T)0 : im;
  return {re, phase == (T)0 ? phase : im};
}

template <class T> XPU_FN Complex<T> exp_rotated(T x, T phase, T c, T s) {
  bool big = x > exp_limit<T>;
  return rotated(x, exp(big ? (T)0.5 * x : x), big, phase, c, s);
}

template <class T> XPU_FN Complex<T> exp(Complex<T> z) { return exp_rotated(z.re, z.im, cos(z.im), sin(z.im)); }

// The phase is taken to twice the precision: its error, as that of the result, would grow with the imaginary part.
template <class T> XPU_FN Complex<T> exp2(Complex<T> z) {
  constexpr bool kFloat = sizeof(T) == 4;
  constexpr T kHigh = (T)(kFloat ? 0x1.62e43p-1f : 0x1.62e42fefa39efp-1);
  constexpr T kLow = (T)(kFloat ? -0x1.05c610p-29f : 0x1.abc9e3b39803fp-56);
  T phase = z.im * kHigh, rest = fma(z.im, kHigh, -phase) + z.im * kLow;
  T c = cos(phase), s = sin(phase);
  bool big = z.re > (T)(kFloat ? 127.0f : 1023.0f);
  T root = exp2(big ? (T)0.5 * z.re : z.re);
  return rotated(z.re, root, big, z.im, fma(-s, rest, c), fma(c, rest, s));
}

// e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y/2)
template <class T> XPU_FN Complex<T> expm1(Complex<T> z) {
  T c = cos(z.im), half_sine = sin((T)0.5 * z.im);
  Complex<T> e = exp_rotated(z.re, z.im, c, sin(z.im));
  T re = fma(expm1(z.re), c, (T)-2 * half_sine * half_sine);
  re = z.re > exp_limit<T> || !isfinite(z.re) ? e.re - (T)1 : re;
  return {z.im == (T)0 ? expm1(z.re) : re, e.im};
}

// With w = e^-|x| (cos y - i sin y), 1 / (1 + w) on the right and its conjugate form on the left. The denominator's
// real part (e^-|x| - 1) cos y + 2 cos^2(y/2) keeps its digits near the poles.
template <class T> XPU_FN Complex<T> logistic(Complex<T> z) {
  bool left = z.re < (T)0;
  T a = -abs(z.re), y = left ? z.im : -z.im;
  T c = cos(y), half_cosine = cos((T)0.5 * y);
  Complex<T> w = exp_rotated(a, y, c, sin(y));
  Complex<T> d = {fma(expm1(a), c, (T)2 * half_cosine * half_cosine), w.im};
  Complex<T> r = (left ? w : Complex<T>(1)) / d;
  return isinf(z.re) ? Complex<T>(left ? (T)0 : (T)1, (T)0) : r;
}

// log|1 + a + i y| for a and y of moderate size: 2a + a^2 + y^2 is added to twice the precision, because it cancels
// on the unit circle.
template <class T> XPU_FN T log_abs_near_one(T a, T y) {
  T p = a * a, q = y * y;
  T p_rest = fma(a, a, -p), q_rest = fma(y, y, -q);
  T s = p + q, b = s - p;
  T rest = (p - (s - b)) + (q - b) + (p_rest + q_rest);
  T t = (T)2 * a + s;
  b = t - s;
  rest = rest + ((s - (t - b)) + ((T)2 * a - b));
  T sum = t + rest;
  rest = rest - (sum - t);
  return (T)0.5 * (log1p(sum) + rest / ((T)1 + sum));
}

// log|z|, or where `near` it by the formula for 1 + a + i y.
template <class T> XPU_FN T log_abs(Complex<T> z, bool near, T a, T y) {
  constexpr bool kFloat = sizeof(T) == 4;
  T scale = safe_scale(larger_part(z));
  T back = scale == (T)1 ? (T)0 : scale < (T)1 ? (T)4 : (T)(kFloat ? -66.0f : -570.0f);
  T far = log(abs(z * scale)) + back * (T)0.69314718055994530942;
  return select(near, log_abs_near_one(near ? a : (T)0, near ? y : (T)0), far);
}

template <class T> XPU_FN T log_abs(Complex<T> z) {
  T x = abs(z.re), y = abs(z.im), large = max_of(x, y), small = min_of(x, y);
  return log_abs(z, large > (T)0.5 && large < (T)2 && x == x, large - (T)1, small);
}

template <class T> XPU_FN Complex<T> log(Complex<T> z) { return {log_abs(z), angle(z)}; }
template <class T> XPU_FN Complex<T> log2(Complex<T> z) { return log(z) * (T)1.44269504088896340736; }
template <class T> XPU_FN Complex<T> log10(Complex<T> z) { return log(z) * (T)0.43429448190325182765; }

template <class T> XPU_FN Complex<T> log1p(Complex<T> z) {
  Complex<T> u = {(T)1 + z.re, z.im};
  bool near = abs(z.re) < (T)3 && abs(z.im) < (T)2 && larger_part(u) > (T)0.5;
  return {log_abs(u, near, z.re, z.im), angle(u)};
}

// Of two numbers infinite on the left the angle says nothing, and of two on the right that of the sum is taken.
template <class T> XPU_FN Complex<T> logaddexp(Complex<T> a, Complex<T> b) {
  bool swap = a.re > b.re;
  Complex<T> low = swap ? b : a, high = swap ? a : b;
  Complex<T> sum = high + log1p(exp(low - high));
  bool infinite = isinf(low.re) && low.re == high.re;
  sum = infinite ? (low.re < (T)0 ? low : log(exp(low) + exp(high))) : sum;
  return isnan(a) || isnan(b) ? Complex<T>((T)nan(), (T)nan()) : sum;
}

// e^(w log z); 1 where w is 0, and where z is 0, 0 for an exponent with a positive real part, else NaN.
template <class T> XPU_FN Complex<T> pow(Complex<T> z, Complex<T> w) {
  Complex<T> r = exp(w * log(z));
  T at_zero = w.re > (T)0 ? (T)0 : (T)nan();
  r = select(z == Complex<T>(0), Complex<T>(at_zero, at_zero), r);
  return select(w == Complex<T>(0), Complex<T>(1), r);
}

}  // namespace xpu

#endif
