// Complex numbers: storage, conversion and arithmetic.
#ifndef XPU_DEVICE_COMPLEX_H
#define XPU_DEVICE_COMPLEX_H
#include <xpu/convert.h>

namespace xpu {

template <class T>
struct Complex {
  T re, im;
  Complex() = default;
  XPU_FN Complex(T real, T imaginary = (T)0) : re(real), im(imaginary) {}
  XPU_FN explicit operator bool() const { return re != (T)0 || im != (T)0; }
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<Complex<T>> = true;

template <class T>
XPU_FN Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
XPU_FN Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
XPU_FN Complex<T> operator-(Complex<T> a) {
  return {-a.re, -a.im};
}
template <class T>
XPU_FN Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
XPU_FN bool operator==(Complex<T> a, Complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
XPU_FN bool operator!=(Complex<T> a, Complex<T> b) {
  return !(a == b);
}

template <class T> XPU_FN Complex<T>& operator+=(Complex<T>& a, Complex<T> b) { return a = a + b; }
template <class T> XPU_FN Complex<T>& operator*=(Complex<T>& a, Complex<T> b) { return a = a * b; }

// By a real number, part by part: not what the product with a complex number of imaginary part 0 is where a part is
// infinite or NaN.
template <class T>
XPU_FN Complex<T> operator*(Complex<T> a, T b) {
  return {a.re * b, a.im * b};
}
template <class T>
XPU_FN Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
template <class T>
XPU_FN Complex<T> operator/(Complex<T> a, T b) {
  return {a.re / b, a.im / b};
}

// The larger magnitude of the two parts; NaN only where both are.
template <class T>
XPU_FN T larger_part(Complex<T> a) {
  return __spirv_ocl_fmax(__spirv_ocl_fabs(a.re), __spirv_ocl_fabs(a.im));
}

// A power of two that brings a number of this magnitude to where neither the sum of two such numbers overflows nor
// their digits fall below the smallest normal number.
template <class T>
XPU_FN T safe_scale(T magnitude) {
  constexpr bool kFloat = sizeof(T) == 4;
  constexpr T kHigh = (T)(kFloat ? 0x1p125f : 0x1p1021), kLow = (T)(kFloat ? 0x1p-62f : 0x1p-510);
  constexpr T kUp = (T)(kFloat ? 0x1p66f : 0x1p570);
  return magnitude > kHigh ? (T)0x1p-4f : magnitude < kLow ? kUp : (T)1;
}

// Smith's method: divides through by the larger part of b. Both numbers are scaled first, so that nothing overflows or
// loses digits on the way. By zero each part is divided by +0, as PyTorch and NumPy do.
template <class T>
XPU_FN Complex<T> operator/(Complex<T> a, Complex<T> b) {
  T up = safe_scale(larger_part(a)), down = safe_scale(larger_part(b)), back = down / up;
  a = a * up;
  b = b * down;
  bool wide = __spirv_ocl_fabs(b.re) >= __spirv_ocl_fabs(b.im);
  T large = wide ? b.re : b.im, small = wide ? b.im : b.re;
  bool zero = b.re == (T)0 && b.im == (T)0;
  T ratio = zero ? (T)0 : small / large;
  T whole = zero ? (T)0 : large + small * ratio;
  T re = wide ? a.re + a.im * ratio : a.re * ratio + a.im;
  T im = wide ? a.im - a.re * ratio : a.im * ratio - a.re;
  re = zero ? a.re : re;
  im = zero ? a.im : im;
  return {re / whole * back, im / whole * back};
}

// xpu::to for types of which either may be complex: to a real type the imaginary part is dropped.
template <class T, class F>
XPU_FN T cast(F x) {
  if constexpr (same_type<T, F>)
    return x;
  else if constexpr (is_complex<T> && is_complex<F>)
    return T((decltype(T::re))x.re, (decltype(T::re))x.im);
  else if constexpr (is_complex<T>)
    return T(to<decltype(T::re)>(x));
  else if constexpr (is_complex<F> && same_type<T, bool>)
    return (bool)x;
  else if constexpr (is_complex<F>)
    return to<T>(x.re);
  else
    return to<T>(x);
}

}  // namespace xpu

#endif
