// Activation functions of neural networks. A NaN goes through every one of them.
//
// The two GELUs are in gelu.h: the error function would weigh on every kernel that wants a relu.
#ifndef XPU_DEVICE_ACTIVATION_H
#define XPU_DEVICE_ACTIVATION_H
#include <xpu/hyperbolic.h>

namespace xpu {

XPU_MATH1(relu, return x <= (T)0 ? (T)0 : x;)
XPU_MATH1(relu6, return x <= (T)0 ? (T)0 : x >= (T)6 ? (T)6 : x;)
XPU_MATH3(hardtanh, return x < y ? y : x > z ? z : x;)             // x, low, high
XPU_MATH3(threshold, return x <= y ? z : x;)                      // x, threshold, value
XPU_MATH2(leaky_relu, return x > (T)0 ? x : x * y;)               // x, slope; also PReLU
XPU_MATH2(hardshrink, return x >= -y && x <= y ? (T)0 : x;)       // x, lambda
XPU_MATH2(softshrink, return x > y ? x - y : x < -y ? x + y : x != x ? x : (T)0;)
XPU_MATH1(hardsigmoid, T s = x + (T)3; return (s < (T)0 ? (T)0 : s > (T)6 ? (T)6 : s) / (T)6;)
XPU_MATH1(hardswish, T s = x + (T)3; return x * ((s < (T)0 ? (T)0 : s > (T)6 ? (T)6 : s) / (T)6);)
XPU_MATH1(softsign, return x / ((T)1 + __spirv_ocl_fabs(x));)

// x - tanh(x), which cancels until it is as large as tanh(x), and would multiply the error of tanh; double cancels as
// PyTorch's does. The polynomial is that of (x - tanh(x)) / x^3 around the middle of where it is used.
XPU_FN float tanhshrink(float x) {
  float z = x * x;
  float small = x * z * poly(z - 0.99f, 0.239083752f, -0.067986645f, 0.0196201112f, -0.00567299873f, 0.00164162402f,
                             -0.000474815664f, 0.000134837042f, -3.89933739e-05f, 1.41886139e-05f, -4.1066296e-06f);
  return select(__spirv_ocl_fabs(x) < 1.4f, small, x - __spirv_ocl_tanh(x));
}
XPU_FN double tanhshrink(double x) { return select(x == 0.0, x, x - __spirv_ocl_tanh(x)); }
XPU_NARROW1(tanhshrink)

// x logistic(x); -infinity gives NaN, as the product does in the frameworks.
XPU_MATH1(silu, T e = __spirv_ocl_exp(-__spirv_ocl_fabs(x)); return select(x < (T)0, x * e, x) / ((T)1 + e);)

// x, alpha, scale and input scale folded by the caller: scale * (x > 0 ? x : alpha * expm1(x))
XPU_MATH2(elu, return select(x > (T)0, x, y * __spirv_ocl_expm1(x));)
XPU_MATH2(celu, return select(x > (T)0, x, y * __spirv_ocl_expm1(x / y));)
XPU_MATH1(
    selu, T negative = (T)1.7580993408473766 * __spirv_ocl_expm1(x);
    return select(x > (T)0, (T)1.0507009873554805 * x, negative);)

// log(1 + exp(beta x)) / beta; the identity where beta x is above the threshold z.
XPU_MATH3(
    softplus, T t = x * y; T soft = max_of(t, (T)0) + log1p(__spirv_ocl_exp(-__spirv_ocl_fabs(t)));
    return select(t > z || t != t, x, soft / y);)

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2), written as x or x e^x less a part of it, so that the
// errors of the division and of the exponential count as little as that part.
XPU_MATH1(
    mish, T e = __spirv_ocl_exp(-__spirv_ocl_fabs(x)); bool is_negative = x < (T)0; T e1 = e + (T)1;
    T whole = select(is_negative, e * (e + (T)2) + (T)2, (T)2 * e * e1 + (T)1);
    T part = select(is_negative, e * e1, (T)2 * e * e);
    return select(is_negative, x * e, x) * ((T)1 - part / whole);)

}  // namespace xpu

#endif
