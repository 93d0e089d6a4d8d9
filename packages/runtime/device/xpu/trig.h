// Circular functions. The builtins reduce their argument exactly at any size.
#ifndef XPU_DEVICE_TRIG_H
#define XPU_DEVICE_TRIG_H
#include <xpu/math.h>

namespace xpu {

// Changes no sine and no cosine, and keeps a NaN. The CPU driver's compiler makes one call of sin(x) and cos(x), and
// dies when x is itself what such a call returned: between two of them there must be something.
template <class T> XPU_FN T one_at_most(T x) { return x > (T)1 ? (T)1 : x; }

XPU_MATH1(sin, return one_at_most(__spirv_ocl_sin(x));)
XPU_MATH1(cos, return one_at_most(__spirv_ocl_cos(x));)
XPU_MATH1(tan, return __spirv_ocl_tan(x);)
XPU_MATH1(sinpi, return __spirv_ocl_sinpi(x);)
XPU_MATH1(cospi, return __spirv_ocl_cospi(x);)
XPU_MATH1(tanpi, return __spirv_ocl_tanpi(x);)
XPU_MATH1(asin, return __spirv_ocl_asin(x);)
XPU_MATH1(acos, return __spirv_ocl_acos(x);)
XPU_MATH1(atan, return __spirv_ocl_atan(x);)
XPU_MATH2(atan2, return __spirv_ocl_atan2(x, y);)
// NaN outside [-1, 1] whatever the builtin gives: CUDA's acospi is infinite at infinity.
XPU_MATH1(asinpi, return select(__spirv_ocl_fabs(x) <= (T)1, __spirv_ocl_asinpi(x), (T)nan());)
XPU_MATH1(acospi, return select(__spirv_ocl_fabs(x) <= (T)1, __spirv_ocl_acospi(x), (T)nan());)
XPU_MATH1(atanpi, return __spirv_ocl_atanpi(x);)
XPU_MATH1(deg2rad, return x * (T)0.017453292519943295;)
XPU_MATH1(rad2deg, return x * (T)57.29577951308232;)
// sin(pi x) / (pi x)
XPU_MATH1(
    sinc, T r = __spirv_ocl_sinpi(x) / ((T)3.14159265358979324 * x);
    return select(x == (T)0, (T)1, r);)

}  // namespace xpu

#endif
