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

// Divides through by the larger part of b, so that neither overflows on the way.
template <class T>
XPU_FN Complex<T> operator/(Complex<T> a, Complex<T> b) {
  bool wide = __spirv_ocl_fabs(b.re) >= __spirv_ocl_fabs(b.im);
  T large = wide ? b.re : b.im, small = wide ? b.im : b.re;
  T ratio = small / large, scale = (T)1 / (large + small * ratio);
  T re = wide ? a.re + a.im * ratio : a.re * ratio + a.im;
  T im = wide ? a.im - a.re * ratio : a.im * ratio - a.re;
  return {re * scale, im * scale};
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
