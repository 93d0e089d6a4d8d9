// GELU, both definitions and their derivatives, written so that neither tail cancels.
#ifndef XPU_DEVICE_GELU_H
#define XPU_DEVICE_GELU_H
#include <xpu/erf.h>

namespace xpu {

// x P(X < x) = max(x, 0) - |x| P(X > |x|). At minus infinity it is -0, the limit; at -14 and below
// it is small enough for |x| to be taken as 16.

// The normal distribution's tail over its density's exponential is a smooth function, here a ratio of polynomials
// with the denominator's reciprocal taken in one Newton step from the hardware's estimate.

// 2^(64 - x^2 log2(e) / 2), where adding kRound leaves the nearest whole number in the lowest bits. 2^64 keeps it
// from being subnormal. The rounding of x^2 is not put back: the error grows with it, to 80 ulp at results of 1e-32.
template <class... C> XPU_FN float scaled_bell(float a, C... exp2) {
  constexpr float kRound = 0x1.8p23f, kHalfLog2e = -0.721347520f;
  float h = a * a, k = __spirv_ocl_fma(h, kHalfLog2e, kRound);
  float e = poly(__spirv_ocl_fma(h, kHalfLog2e, kRound - k), (0x1p64f * exp2)...);
  return bits_as<float>(bits_as<u32>(e) + (bits_as<u32>(k) << 23));
}

// To 14 bits, for 16-bit and narrower results.
XPU_FN float short_gelu(float x) {
  float a = __spirv_ocl_fabs(x);
  a = a > 16.0f ? 16.0f : a;
  float ratio = a * poly(a, 0.50001231f, 0.27869294f, 0.06270353f) *
                __spirv_ocl_native_recip(poly(a, 1.0f, 1.35603324f, 0.70358762f, 0.15700243f));
  float bell = scaled_bell(a, 0.999928057f, 0.693261027f, 0.242611095f, 0.0551714152f);
  return __spirv_ocl_fma(ratio * bell, -0x1p-64f, x < 0.0f ? 0.0f : x);
}
XPU_FN float gelu(float x) {
  if constexpr (XPU_SHORT_RESULTS) return short_gelu(x);
  float a = __spirv_ocl_fabs(x);
  a = a > 16.0f ? 16.0f : a;
  float ratio = a * poly(a, 0.49999983f, 0.359997906f, 0.118401228f, 0.0167804738f) *
                quick_reciprocal(poly(a, 1.0f, 1.51786336f, 0.948018478f, 0.296567266f, 0.0420680628f));
  float bell =
      scaled_bell(a, 1.00000007f, 0.693146967f, 0.240221197f, 0.0555071327f, 0.00967554134f, 0.00132764718f);
  return __spirv_ocl_fma(ratio * bell, -0x1p-64f, x < 0.0f ? 0.0f : x);
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
