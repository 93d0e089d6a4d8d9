// Hyperbolic functions and their inverses.
#ifndef XPU_DEVICE_HYPERBOLIC_H
#define XPU_DEVICE_HYPERBOLIC_H
#include <xpu/exp.h>

namespace xpu {

XPU_MATH1(sinh, return __spirv_ocl_sinh(x);)
XPU_MATH1(cosh, return __spirv_ocl_cosh(x);)
XPU_MATH1(tanh, return __spirv_ocl_tanh(x);)
XPU_MATH1(asinh, return __spirv_ocl_asinh(x);)

// Written with log1p because the builtins are not vectorized. Beyond 2^28 x and sqrt(x^2 - 1) agree.
XPU_MATH1(
    acosh, T t = x - (T)1; T far = __spirv_ocl_log(x) + (T)0.6931471805599453;
    T near = log1p(t + __spirv_ocl_sqrt(t * ((T)2 + t)));
    
    T r = select(x > (T)0x1p28, far, near);
    return select(x < (T)1, (T)nan(), r);)
XPU_MATH1(
    atanh, T a = __spirv_ocl_fabs(x);
    return __spirv_ocl_copysign((T)0.5 * log1p((T)2 * a / ((T)1 - a)), x);)

}  // namespace xpu

#endif
