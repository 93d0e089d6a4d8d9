// The error functions and the normal distribution made of them.
//
// The tails are the scaled complement erfcx(t) = exp(t^2) erfc(t), which is smooth and never cancels,
// times exp(-t^2) with the rounding error of t^2 put back.
#ifndef XPU_DEVICE_ERF_H
#define XPU_DEVICE_ERF_H
#include <xpu/exp.h>

namespace xpu {

// erfcx for t >= 0: a polynomial in q = 1 / (1 + 0.45 t), which goes from 1 to 0.
XPU_FN float erfcx_positive(float t) {
  float q = 1.0f / __spirv_ocl_fma(0.45f, t, 1.0f);
  return q * poly(q, 0.253885299f, 0.25388518f, 0.228184149f, 0.176724955f, 0.107359432f, 0.039918296f,
                  -0.0482699163f, 0.0720385984f, -0.274626434f, 0.31775853f, -0.15602541f, 0.0291673075f);
}
XPU_FN double erfcx_positive(double t) {
  constexpr double kSeries[] = {
      2.35512514839312015e+00,  5.35390453961567640e-03,  -9.37755034228420908e-02, 5.43665255574432224e-02,
      -1.89765967078452079e-02, 4.45342606146271157e-03,  -6.33553171055314685e-04, 1.76617195231715932e-05,
      1.28415328640566712e-05,  -2.00722856590599130e-06, -1.80752279041483712e-07, 7.54982834382509291e-08,
      1.88566852383860296e-09,  -2.69951904979836388e-09, -1.46007911993910282e-11, 1.03616074459694906e-10,
      1.47571597662346029e-12,  -4.27734006439693604e-12, -2.07922492859824250e-13, 1.81345020031756857e-13,
      1.97342557454533186e-14,  -7.28794373757107279e-15, -1.51698786899628752e-15, 2.35141122606146911e-16,
      1.00061116919365317e-16,  -2.05725283344371917e-18, -5.60860824473460592e-18};
  double s = t > 1e18 ? 1.0 : (t - 3.0) / (t + 3.0);
  return t > 1e18 ? 0.5641895835477563 / t : chebyshev(s, kSeries) / (2.0 * t + 1.0);
}

// exp(-scale t^2) for scale t^2 <= 128, times 2^64 so that it is never subnormal.
XPU_FN float scaled_gauss(float t, float scale) {
  float c = -scale * t, h = c * t, low = __spirv_ocl_fma(c, t, -h);
  float k = __spirv_ocl_rint(h * 1.44269502f);
  float r = __spirv_ocl_fma(k, -0.693145752f, h);
  r = __spirv_ocl_fma(k, -1.42860677e-6f, r) + low;
  constexpr float s = 0x1p64f;
  float p = poly(r, s, s, s * 0.499999911f, s * 0.166664183f, s * 0.0416682363f, s * 0.00837498065f,
                 s * 0.00138366374f);
  return bits_as<float>(bits_as<u32>(p) + ((u32)(i32)k << 23));
}

// erf for |x| <= 0.92
XPU_FN float erf_small(float x) {
  return x * poly(x * x, 1.12837911f, -0.376124978f, 0.112818457f, -0.0267677177f, 0.00499482825f,
                  -0.000599939725f);
}

// Above, 1 - 2^y, y a polynomial; 2^y is written out because calling exp costs more here.
XPU_FN float erf(float x) {
  float a = __spirv_ocl_fabs(x);
  a = a > 4.0f ? 4.0f : a;  // erf is 1 in float from 3.92 on; the comparison keeps NaN
  float y = poly(a, -0.000240126232f, -1.62706757f, -0.918962181f, -0.150204346f, 0.0321940742f,
                 -0.00442257524f, 0.000285971386f);
  float k = __spirv_ocl_rint(y);
  float p = poly(y - k, 1.00000012f, 0.693146944f, 0.240221202f, 0.0555071346f, 0.00967554096f, 0.00132763817f);
  float large = 1.0f - bits_as<float>(bits_as<u32>(p) + ((u32)(i32)k << 23));
  return select(a < 0.92f, erf_small(x), __spirv_ocl_copysign(large, x));
}
XPU_FN double erf(double x) { return __spirv_ocl_erf(x); }
XPU_NARROW1(erf)

XPU_FN float erfc(float x) {
  float a = __spirv_ocl_fabs(x);
  a = a > 11.0f ? 11.0f : a;  // keeps NaN
  float upper = erfcx_positive(a) * scaled_gauss(a, 1.0f) * 0x1p-64f;
  float r = select(x < 0.0f, 2.0f - upper, upper);
  return select(a < 0.65f, 1.0f - erf_small(x), r);
}
XPU_FN double erfc(double x) { return __spirv_ocl_erfc(x); }
XPU_NARROW1(erfc)

XPU_MATH1(
    erfcx, T positive = erfcx_positive(__spirv_ocl_fabs(x));
    T h = x * x; T low = __spirv_ocl_fma(x, x, -h); T e = (T)2 * __spirv_ocl_exp(h);
    T negative = select(isinf(e), e, __spirv_ocl_fma(e, low, e) - positive);
    return select(x < (T)0, negative, positive);)

// 1 / x to about an ulp for moderate x: the hardware's estimate and a Newton step.
XPU_FN float quick_reciprocal(float x) {
  float r = __spirv_ocl_native_recip(x);
  return r * __spirv_ocl_fma(-x, r, 2.0f);
}

// The smaller of the normal distribution's two tails, P(X > a), times 2^64 for 0 <= a <= 16.
XPU_FN float scaled_tail(float a) {
  float q = quick_reciprocal(__spirv_ocl_fma(0.3f, a, 1.0f));
  float ratio = q * poly(q, 0.119686723f, 0.119571194f, 0.110240348f, 0.0783677846f, 0.0962171704f,
                         -0.0795309916f, 0.191908464f, -0.228302941f, 0.112472236f, -0.0206299853f);
  return ratio * scaled_gauss(a, 0.5f);
}
XPU_FN float normal_tail(float x) {
  float a = __spirv_ocl_fabs(x);
  float far = scaled_tail(a > 16.0f ? 16.0f : a) * 0x1p-64f;  // the comparison keeps NaN
  return select(a < 0.9f, __spirv_ocl_fma(-0.5f, erf_small(a * 0.70710678f), 0.5f), far);
}
XPU_FN double normal_tail(double x) {
  return 0.5 * __spirv_ocl_erfc(__spirv_ocl_fabs(x) * 0.7071067811865476);
}

// The normal distribution function, and its logarithm.
XPU_MATH1(ndtr, T tail = normal_tail(x); return select(x < (T)0, tail, (T)1 - tail);)
XPU_MATH1(
    log_ndtr, T tail = normal_tail(x);
    T half_erfcx = (T)0.5 * erfcx_positive(__spirv_ocl_fabs(x) * (T)0.7071067811865476);
    T far = __spirv_ocl_log(half_erfcx) - (T)0.5 * x * x;
    T left = select(x < (T)-1, far, __spirv_ocl_log(tail));
    return select(x < (T)0, left, log1p(-tail));)

// erfinv(x) / x as a function of w = -log(1 - x^2), which also serves the tails: the same value
// belongs to erfcinv(z) / (1 - z) at w = -log(z (2 - z)).
XPU_FN float inverse_ratio(float w) {
  float u = w - 2.5f, root = __spirv_ocl_sqrt(w), v = root - 3.2f, t = root - 7.2f;
  float near = poly(u, 1.50140941f, 0.24664028f, -0.00417738687f, -0.0012527419f, 0.00021834443f,
                    -4.96334633e-06f, -3.46270417e-06f, 4.66170377e-07f, 2.32326069e-08f, -8.79103723e-09f);
  float far = poly(v, 3.03363657f, 1.00469255f, 0.00597586576f, -0.00429484434f, 0.00292697828f,
                   -0.00199096091f, 0.00115337886f, -0.00036146582f, -0.000112397531f, 0.00010098717f);
  float tail = poly(t, 7.07071829f, 1.00839138f, -0.000507712131f, 1.07316082e-05f, 4.74873514e-06f,
                    -1.37498796e-06f, 2.06668247e-07f, -2.56234944e-08f, 1.1209675e-08f, -2.14827534e-09f);
  return select(w < 5.0f, near, select(w < 17.0f, far, tail));
}

XPU_FN float erfinv(float x) {
  float w = -__spirv_ocl_log(__spirv_ocl_fma(-x, x, 1.0f));
  float r = x * inverse_ratio(w);
  return select(__spirv_ocl_fabs(x) == 1.0f, x * infinity(), r);
}
XPU_FN float erfcinv(float z) {
  float r = (1.0f - z) * inverse_ratio(-__spirv_ocl_log(z * (2.0f - z)));
  r = select(z == 0.0f, infinity(), r);
  return select(z == 2.0f, -infinity(), r);
}
XPU_FN float ndtri(float p) {
  float r = (p - 0.5f) * 2.82842712f * inverse_ratio(-__spirv_ocl_log(4.0f * p * (1.0f - p)));
  r = select(p == 0.0f, -infinity(), r);
  return select(p == 1.0f, infinity(), r);
}

// In double the float approximation (by a further polynomial in the far tail) starts two Halley steps
// on log(erfcx) form, which neither underflows nor cancels. z in (0, 1].
XPU_FN double erfcinv_lower(double z) {
  double w = -__spirv_ocl_log(z * (2.0 - z)), t = __spirv_ocl_sqrt(w) - 18.0;
  double far = poly(t, 17.9229736, 1.00274181, -0.000108808381, 4.50588823e-06, -2.18415636e-07, 8.0534015e-09);
  double y = (1.0 - z) * (w > 100.0 ? far : (double)inverse_ratio((float)w));
  for (int i = 0; i < 2; ++i) {
    double error = (erfcx_positive(y) - z * __spirv_ocl_exp(y * y)) * 0.886226925452758;
    y += error / (1.0 - y * error);
  }
  return y;
}
XPU_FN double erfinv(double x) {
  double a = __spirv_ocl_fabs(x);
  double w = -log1p(-a * a), y = a * (double)inverse_ratio((float)w);
  for (int i = 0; i < 2; ++i) {  // below 1/2; near 1 the complement keeps the digits
    double error = (__spirv_ocl_erf(y) - a) * 0.886226925452758 * __spirv_ocl_exp(y * y);
    y -= error / (1.0 + y * error);
  }
  double r = a < 0.5 ? y : erfcinv_lower(1.0 - a);
  r = a == 1.0 ? (double)infinity() : a > 1.0 ? (double)nan() : r;
  return __spirv_ocl_copysign(r, x);
}
XPU_FN double erfcinv(double z) {
  if (z == 0.0) return (double)infinity();
  if (z == 2.0) return -(double)infinity();
  if (!(z > 0.0 && z < 2.0)) return (double)nan();
  return z > 0.5 && z < 1.5 ? erfinv(1.0 - z) : z < 1.0 ? erfcinv_lower(z) : -erfcinv_lower(2.0 - z);
}
XPU_FN double ndtri(double p) { return -1.4142135623730951 * erfcinv(2.0 * p); }
XPU_NARROW1(erfinv)
XPU_NARROW1(erfcinv)
XPU_NARROW1(ndtri)

}  // namespace xpu

#endif
