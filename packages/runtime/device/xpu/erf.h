// The error functions and the normal distribution made of them.
#ifndef XPU_DEVICE_ERF_H
#define XPU_DEVICE_ERF_H
#include <xpu/exp.h>

namespace xpu {

XPU_MATH1(erf, return __spirv_ocl_erf(x);)
XPU_MATH1(erfc, return __spirv_ocl_erfc(x);)

}  // namespace xpu

#endif
