// Complex parts, predicates, arithmetic by name and square roots.
#ifndef XPU_DEVICE_COMPLEX_BASIC_H
#define XPU_DEVICE_COMPLEX_BASIC_H
#include <xpu/complex.h>
#include <xpu/math.h>
#include <xpu/trig.h>

namespace xpu {

template <class T> XPU_FN Complex<T> complex(T re, T im) { return {re, im}; }
template <class T> XPU_FN Complex<T> polar(T r, T theta) { return {r * cos(theta), r * sin(theta)}; }
template <class T> XPU_FN T real(Complex<T> z) { return z.re; }
template <class T> XPU_FN T imag(Complex<T> z) { return z.im; }
template <class T> XPU_FN Complex<T> conj(Complex<T> z) { return {z.re, -z.im}; }

template <class T> XPU_FN bool isnan(Complex<T> z) { return isnan(z.re) || isnan(z.im); }
template <class T> XPU_FN bool isinf(Complex<T> z) { return isinf(z.re) || isinf(z.im); }
template <class T> XPU_FN bool isfinite(Complex<T> z) { return isfinite(z.re) && isfinite(z.im); }

template <class T> XPU_FN T angle(Complex<T> z) { return atan2(z.im, z.re); }

// Infinite where a part is, even if the other is NaN.
template <class T> XPU_FN T abs(Complex<T> z) { return hypot(z.re, z.im); }

// z / |z|, 0 for 0.
template <class T> XPU_FN Complex<T> sgn(Complex<T> z) {
  Complex<T> near = z * safe_scale(larger_part(z));
  return select(z == Complex<T>(0), Complex<T>(0), near / abs(near));
}

template <class T> XPU_FN Complex<T> neg(Complex<T> z) { return -z; }
template <class T> XPU_FN Complex<T> add(Complex<T> a, Complex<T> b) { return a + b; }
template <class T> XPU_FN Complex<T> sub(Complex<T> a, Complex<T> b) { return a - b; }
template <class T> XPU_FN Complex<T> mul(Complex<T> a, Complex<T> b) { return a * b; }
template <class T> XPU_FN Complex<T> div(Complex<T> a, Complex<T> b) { return a / b; }
template <class T> XPU_FN Complex<T> square(Complex<T> z) { return z * z; }

// The limit, 0, where one part is infinite; NaN where both are, as PyTorch and NumPy have it.
template <class T> XPU_FN Complex<T> reciprocal(Complex<T> z) { return Complex<T>(1) / z; }

// x + w (y - x), from whichever end is nearer, so that weight 1 gives y exactly.
template <class T> XPU_FN Complex<T> lerp(Complex<T> x, Complex<T> y, Complex<T> w) {
  Complex<T> step = y - x;
  bool near = w.re * w.re + w.im * w.im < (T)0.25;
  return select(near, x + w * step, y - step * (Complex<T>(1) - w));
}

// The half-angle formula whose sum has no cancellation gives one part, division the other.
template <class T> XPU_FN Complex<T> sqrt(Complex<T> z) {
  constexpr bool kFloat = sizeof(T) == 4;
  constexpr T kDown = (T)0x1p-4f, kUp = (T)(kFloat ? 0x1p66f : 0x1p570);
  T scale = safe_scale(larger_part(z));
  T back = scale == kDown ? (T)4 : scale == kUp ? (T)(kFloat ? 0x1p-33f : 0x1p-285) : (T)1;
  T x = abs(z.re * scale), y = z.im * scale;
  T large = sqrt((T)0.5 * (x + hypot(x, y)));
  T small = y / ((T)2 * large);
  bool left = z.re < (T)0;
  T re = (left ? abs(small) : large) * back, im = (left ? copysign(large, y) : small) * back;
  bool zero = z == Complex<T>(0), infinite = isinf(z.re) && !isinf(z.im);
  T along = isnan(z.im) ? z.im : (T)0;  // what is left of the imaginary part beside an infinite real one
  re = zero ? (T)0 : infinite ? (left ? abs(along) : z.re) : re;
  im = zero ? z.im : infinite ? (left ? copysign((T)infinity(), z.im) : isnan(z.im) ? z.im : copysign((T)0, z.im)) : im;
  bool upright = isinf(z.im);
  return {upright ? (T)infinity() : re, upright ? z.im : im};
}

template <class T> XPU_FN Complex<T> rsqrt(Complex<T> z) { return Complex<T>(1) / sqrt(z); }

}  // namespace xpu

#endif
