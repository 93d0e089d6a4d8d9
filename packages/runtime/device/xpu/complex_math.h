// Functions of complex numbers, under the names of the real ones.
//
// For Complex<float> and Complex<double>; the float forms never touch double. abs, angle, real and imag return a real
// number, which an elementwise operation stores into a real or a complex output alike; predicates and comparisons
// return bool, everything else a complex number.
//
// Errors are measured against the magnitude of the result, |got - expected| / |expected|: where one part is far smaller
// than the other it may have fewer correct digits. Branch cuts lie where C99 has them, continuous from the side that
// the sign of zero names; infinities and NaN follow C99 annex G, products and quotients PyTorch's plain formulas.
#ifndef XPU_DEVICE_COMPLEX_MATH_H
#define XPU_DEVICE_COMPLEX_MATH_H
#include <xpu/complex_basic.h>
#include <xpu/complex_exp.h>
#include <xpu/complex_inverse.h>
#include <xpu/complex_trig.h>
#include <xpu/logic.h>

#endif
