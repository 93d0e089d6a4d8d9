// Exponentials, logarithms, powers, and what is made of them alone.
#ifndef XPU_DEVICE_EXP_H
#define XPU_DEVICE_EXP_H
#include <xpu/math.h>

namespace xpu {

XPU_MATH1(exp, return __spirv_ocl_exp(x);)
XPU_MATH1(exp2, return __spirv_ocl_exp2(x);)
XPU_MATH1(exp10, return __spirv_ocl_exp10(x);)
XPU_MATH1(expm1, return __spirv_ocl_expm1(x);)
XPU_MATH1(log, return __spirv_ocl_log(x);)
XPU_MATH1(log2, return __spirv_ocl_log2(x);)
XPU_MATH1(log10, return __spirv_ocl_log10(x);)

// The rounding error of 1 + x, divided by it, repairs the logarithm (the builtin is not vectorised).
XPU_MATH1(
    log1p, T u = (T)1 + x; T error = u - (T)1 - x;
    T r = __spirv_ocl_log(u) - error / u;
    r = u == (T)1 ? x : r;
    return x == (T)infinity() ? x : r;)

// 1 / (1 + exp(-x)): exp of a large argument is infinite and its reciprocal 0, as it should be.
XPU_MATH1(logistic, return (T)1 / ((T)1 + __spirv_ocl_exp(-x));)
XPU_MATH1(log_sigmoid, return min_of(x, (T)0) - log1p(__spirv_ocl_exp(-__spirv_ocl_fabs(x)));)
XPU_MATH1(logit, return __spirv_ocl_log(x / ((T)1 - x));)
XPU_MATH2(pow, return __spirv_ocl_pow(x, y);)
XPU_MATH2(
    logaddexp, T m = maximum(x, y); T d = -__spirv_ocl_fabs(x - y);
    return x == y && isinf(x) ? x : m + log1p(__spirv_ocl_exp(d));)
XPU_MATH2(
    logaddexp2, T m = maximum(x, y); T d = -__spirv_ocl_fabs(x - y);
    return x == y && isinf(x) ? x : m + log1p(__spirv_ocl_exp2(d)) * (T)1.4426950408889634;)

// x * log(y), x * log1p(y) with 0 * anything 0, except that a NaN in y stays.
XPU_MATH2(xlogy, return y != y ? y : x == (T)0 ? (T)0 : x * __spirv_ocl_log(y);)
XPU_MATH2(xlog1py, return y != y ? y : x == (T)0 ? (T)0 : x * log1p(y);)
XPU_MATH1(entr, return x != x ? x : x > (T)0 ? -x * __spirv_ocl_log(x) : x == (T)0 ? (T)0 : -(T)infinity();)

}  // namespace xpu

#endif
