// GELU, both definitions and their derivatives, written so that neither tail cancels.
#ifndef XPU_DEVICE_GELU_H
#define XPU_DEVICE_GELU_H
#include <xpu/erf.h>

namespace xpu {

// x P(X < x) = max(x, 0) - |x| P(X > |x|). At minus infinity it is -0, the limit; at -14 and below
// it is small enough for |x| to be taken as 16.

// To 14 bits, for 16-bit and narrower results: half the operations.
XPU_FN float short_gelu(float x) {
  float a = __spirv_ocl_fabs(x);
  a = a > 16.0f ? 16.0f : a;
  float q = __spirv_ocl_native_recip(__spirv_ocl_fma(0.33f, a, 1.0f));
  float ratio = poly(q, 0.131526887f, 0.133069798f, 0.113238461f, 0.0826695859f, 0.0967299789f, -0.0572432317f);
  float y = -0.721347520f * a * a;
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest whole number in the lowest bits
  float k = y + kRound;
  constexpr float s = 0x1p64f;  // keeps the exponential from being subnormal
  float e = poly(y - (k - kRound), s * 0.999928057f, s * 0.693261027f, s * 0.242611095f, s * 0.0551714152f);
  e = bits_as<float>(bits_as<u32>(e) + (bits_as<u32>(k) << 23));
  return __spirv_ocl_fma(a * q * ratio * e, -0x1p-64f, x < 0.0f ? 0.0f : x);
}
XPU_FN float gelu(float x) {
  if constexpr (XPU_SHORT_RESULTS) return short_gelu(x);
  float a = __spirv_ocl_fabs(x);
  a = a > 16.0f ? 16.0f : a;
  return (x < 0.0f ? 0.0f : x) - a * scaled_tail(a) * 0x1p-64f;
}
XPU_FN double gelu(double x) {
  double a = __spirv_ocl_fabs(x);
  a = a > 64.0 ? 64.0 : a;
  return (x < 0.0 ? 0.0 : x) - a * normal_tail(a);
}
template <class T> XPU_FN enable_if<is_narrow<T>, T> gelu(T x) { return to<T>(short_gelu((float)x)); }

// x (1 + tanh(u)) / 2 = x logistic(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
XPU_MATH1(
    gelu_tanh, T u = x * __spirv_ocl_fma((T)0.07135481627260025 * x, x, (T)1.5957691216057308);
    T e = __spirv_ocl_exp(-__spirv_ocl_fabs(u)); return select(x < (T)0, x * e, x) / ((T)1 + e);)

// P(X < x) + x p(x)
XPU_MATH1(
    gelu_derivative, T tail = normal_tail(x);
    T density = (T)0.3989422804014327 * __spirv_ocl_exp((T)-0.5 * x * x);
    return select(x < (T)0, tail, (T)1 - tail) + select(density == (T)0, (T)0, x * density);)
XPU_MATH1(
    gelu_tanh_derivative, T u = x * __spirv_ocl_fma((T)0.07135481627260025 * x, x, (T)1.5957691216057308);
    T s = logistic(u); T d = s * logistic(-u);
    T slope = x * __spirv_ocl_fma((T)0.21406444881780074 * x, x, (T)1.5957691216057308);
    return select(d == (T)0, s, s + d * slope);)

}  // namespace xpu

#endif
