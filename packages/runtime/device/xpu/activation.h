// Activation functions of neural networks.
//
// A NaN goes through every one of them. Those of erf are in gelu.h, so that the others stay lean.
#ifndef XPU_DEVICE_ACTIVATION_H
#define XPU_DEVICE_ACTIVATION_H
#include <xpu/hyperbolic.h>

namespace xpu {

XPU_MATH1(relu, return x <= (T)0 ? (T)0 : x;)
XPU_MATH1(relu6, return x <= (T)0 ? (T)0 : x >= (T)6 ? (T)6 : x;)
XPU_MATH1(silu, return x / ((T)1 + __spirv_ocl_exp(-x));)
XPU_MATH1(hardsigmoid, return min_of(max_of(x + (T)3, (T)0), (T)6) * (T)(1.0 / 6) + (x - x) * (T)0;)
XPU_MATH1(softsign, return x / ((T)1 + __spirv_ocl_fabs(x));)

}  // namespace xpu

#endif
