// Exponentials, logarithms, powers, and what is made of them alone.
#ifndef XPU_DEVICE_EXP_H
#define XPU_DEVICE_EXP_H
#include <xpu/math.h>
#include <xpu/poly.h>

namespace xpu {

XPU_MATH1(exp, return __spirv_ocl_exp(x);)
XPU_MATH1(exp2, return __spirv_ocl_exp2(x);)
XPU_MATH1(exp10, return __spirv_ocl_exp10(x);)
XPU_MATH1(expm1, return __spirv_ocl_expm1(x);)
XPU_MATH1(log, return __spirv_ocl_log(x);)
XPU_MATH1(log2, return __spirv_ocl_log2(x);)
XPU_MATH1(log10, return __spirv_ocl_log10(x);)

// The builtin is not vectorized on the CPU device. 1 + x = 2^k (1 + m) with m in [-1/4, 1/2], and m is
// exact because x is scaled by 2^-k rather than rounded to 1 + x first.
XPU_FN float log1p(float x) {
  bool big = x > 0x1p64f;  // where the 1 no longer counts and 2^-k would underflow
  float y = big ? x * 0x1p-32f : x;
  u32 k = (bits_as<u32>(y + 1.0f) - 0x3f400000u) & 0xff800000u;
  float scale = bits_as<float>(0x3f800000u - k);  // 2^-k
  float m = __spirv_ocl_fma(y, scale, scale - 1.0f);
  float p = poly(m, -0.5f, 0.333333313f, -0.250000358f, 0.200004309f, -0.166652724f, 0.14267464f,
                 -0.124992058f, 0.114058554f, -0.105824605f, 0.0800597519f, -0.0312553532f);
  float r = __spirv_ocl_fma(p, m * m, m);
  r = __spirv_ocl_fma((float)((i32)k >> 23), 0.693147182f, r);
  r = r + (big ? 22.1807098f : 0.0f);
  r = select(x == infinity(), x, r);
  float outside = x == -1.0f ? -infinity() : nan();
  r = select(x > -1.0f, r, outside);
  return select(x == 0.0f, x, r);  // keeps -0
}
XPU_FN double log1p(double x) {
  double u = 1.0 + x;  // its rounding error, relative to it, repairs the logarithm
  double r = __spirv_ocl_log(u), repaired = r - ((u - 1.0) - x) / u;
  r = select(u > 0.0 && u < (double)infinity(), repaired, r);
  return select(u == 1.0, x, r);
}
XPU_NARROW1(log1p)

// 1 / (1 + exp(-x)), written so that a large negative x gives the subnormal it should.
XPU_MATH1(
    logistic, T e = __spirv_ocl_exp(-__spirv_ocl_fabs(x));
    return select(x < (T)0, e, (T)1) / ((T)1 + e);)
XPU_MATH1(log_sigmoid, return min_of(x, (T)0) - log1p(__spirv_ocl_exp(-__spirv_ocl_fabs(x)));)
// Near 1/2 the quotient is near 1 and its distance from 1 is what counts.
XPU_MATH1(
    logit, T q = (T)1 - x; T middle = log1p(__spirv_ocl_fma((T)2, x, (T)-1) / q); T ends = __spirv_ocl_log(x / q);
    return select(x > (T)0.25 && x < (T)0.75, middle, ends);)
XPU_MATH2(pow, return __spirv_ocl_pow(x, y);)
XPU_MATH2(
    logaddexp, T m = maximum(x, y); T d = -__spirv_ocl_fabs(x - y);
    return select(x == y && isinf(x), x, m + log1p(__spirv_ocl_exp(d)));)
XPU_MATH2(
    logaddexp2, T m = maximum(x, y); T d = -__spirv_ocl_fabs(x - y);
    return select(x == y && isinf(x), x, __spirv_ocl_fma(log1p(__spirv_ocl_exp2(d)), (T)1.4426950408889634, m));)

// x * log(y), x * log1p(y) with 0 * anything 0, except that a NaN in y stays.
XPU_MATH2(xlogy, T r = x * __spirv_ocl_log(y); r = select(x == (T)0, (T)0, r); return select(y != y, y, r);)
XPU_MATH2(xlog1py, T r = x * log1p(y); r = select(x == (T)0, (T)0, r); return select(y != y, y, r);)
XPU_MATH1(
    entr, T r = -x * __spirv_ocl_log(x); r = select(x == (T)0, (T)0, r);
    return select(x < (T)0, -(T)infinity(), r);)

}  // namespace xpu

#endif
