// Arithmetic, rounding, comparison and the NaN rules; roots and sign handling.
//
// Every function has a float and a double form and, computed in float and rounded once, forms for
// half, bf16 and fp8. The float forms never touch double: some GPUs have none. Exponentials are in
// exp.h, circular functions in trig.h, hyperbolic ones in hyperbolic.h, integers in integer.h.
#ifndef XPU_DEVICE_MATH_H
#define XPU_DEVICE_MATH_H
#include <xpu/convert.h>

namespace xpu {

// Defines NAME for float and double alike from one expression in T x (and y, z), then for the
// narrow floats.
#define XPU_MATH1(name, ...)                                                                         \
  XPU_FN float name(float x) { using T [[maybe_unused]] = float; __VA_ARGS__ }                       \
  XPU_FN double name(double x) { using T [[maybe_unused]] = double; __VA_ARGS__ }                    \
  XPU_NARROW1(name)
#define XPU_MATH2(name, ...)                                                                         \
  XPU_FN float name(float x, float y) { using T [[maybe_unused]] = float; __VA_ARGS__ }              \
  XPU_FN double name(double x, double y) { using T [[maybe_unused]] = double; __VA_ARGS__ }          \
  XPU_NARROW2(name)
#define XPU_MATH3(name, ...)                                                                         \
  XPU_FN float name(float x, float y, float z) { using T [[maybe_unused]] = float; __VA_ARGS__ }     \
  XPU_FN double name(double x, double y, double z) { using T [[maybe_unused]] = double; __VA_ARGS__ } \
  XPU_NARROW3(name)
// A predicate: bool of any float type.
#define XPU_TEST1(name, ...)                                                                         \
  XPU_FN bool name(float x) { __VA_ARGS__ }                                                          \
  XPU_FN bool name(double x) { __VA_ARGS__ }                                                         \
  template <class T> XPU_FN enable_if<is_narrow<T>, bool> name(T x) { return name((float)x); }

XPU_TEST1(isnan, return x != x;)
XPU_TEST1(isinf, return __spirv_ocl_fabs(x) == (decltype(x))infinity();)
XPU_TEST1(isfinite, return __spirv_ocl_fabs(x) < (decltype(x))infinity();)
XPU_TEST1(isposinf, return x == (decltype(x))infinity();)
XPU_TEST1(isneginf, return x == -(decltype(x))infinity();)
XPU_FN bool signbit(float x) { return bits_as<u32>(x) >> 31; }
XPU_FN bool signbit(double x) { return bits_as<u64>(x) >> 63; }
template <class T> XPU_FN enable_if<is_narrow<T>, bool> signbit(T x) { return signbit((float)x); }

XPU_MATH1(abs, return __spirv_ocl_fabs(x);)
XPU_MATH1(neg, return -x;)
XPU_MATH1(floor, return __spirv_ocl_floor(x);)
XPU_MATH1(ceil, return __spirv_ocl_ceil(x);)
XPU_MATH1(trunc, return __spirv_ocl_trunc(x);)
XPU_MATH1(round_even, return __spirv_ocl_rint(x);)  // ties to even: aten.round, C rint
XPU_MATH1(round_away, return __spirv_ocl_round(x);)  // ties away from zero: C round
XPU_MATH1(frac, return x - __spirv_ocl_trunc(x);)
XPU_MATH1(square, return x * x;)
XPU_MATH1(reciprocal, return (T)1 / x;)
XPU_MATH1(sqrt, return __spirv_ocl_sqrt(x);)
XPU_MATH1(rsqrt, return __spirv_ocl_rsqrt(x);)
XPU_MATH1(cbrt, return __spirv_ocl_cbrt(x);)

// sign(NaN) is 0 in PyTorch and NaN in StableHLO; both keep the sign of zero out of or in the result
// as their frameworks do.
XPU_MATH1(sign, return (T)(((T)0 < x) - (x < (T)0));)
XPU_MATH1(sign_nan, return x != x || x == (T)0 ? x : __spirv_ocl_copysign((T)1, x);)
XPU_MATH2(copysign, return __spirv_ocl_copysign(x, y);)

// NaN rules. maximum and minimum return NaN if either argument is one, and order -0 below +0;
// fmax and fmin return the other argument.
XPU_FN float maximum(float x, float y) {
  float tie = bits_as<float>(bits_as<u32>(x) & bits_as<u32>(y));
  float r = x == y ? tie : x > y ? x : y;
  return x != x ? x : r;
}
XPU_FN double maximum(double x, double y) {
  double tie = bits_as<double>(bits_as<u64>(x) & bits_as<u64>(y));
  double r = x == y ? tie : x > y ? x : y;
  return x != x ? x : r;
}
XPU_NARROW2(maximum)
XPU_FN float minimum(float x, float y) {
  float tie = bits_as<float>(bits_as<u32>(x) | bits_as<u32>(y));
  float r = x == y ? tie : x < y ? x : y;
  return x != x ? x : r;
}
XPU_FN double minimum(double x, double y) {
  double tie = bits_as<double>(bits_as<u64>(x) | bits_as<u64>(y));
  double r = x == y ? tie : x < y ? x : y;
  return x != x ? x : r;
}
XPU_NARROW2(minimum)
XPU_MATH2(fmax, return x > y || y != y ? x : y;)
XPU_MATH2(fmin, return x < y || y != y ? x : y;)

// A NaN in x or in a bound gives NaN; when low > high the result is high.
XPU_MATH3(clamp, return minimum(maximum(x, y), z);)
XPU_FN float nan_to_num(float x, float nan_value, float posinf, float neginf) {
  return x != x ? nan_value : isposinf(x) ? posinf : isneginf(x) ? neginf : x;
}
XPU_FN double nan_to_num(double x, double nan_value, double posinf, double neginf) {
  return x != x ? nan_value : isposinf(x) ? posinf : isneginf(x) ? neginf : x;
}

XPU_MATH2(add, return x + y;)
XPU_MATH2(sub, return x - y;)
XPU_MATH2(mul, return x * y;)
XPU_MATH2(div, return x / y;)
XPU_MATH3(fma, return __spirv_ocl_fma(x, y, z);)
XPU_MATH2(fdim, return x != x ? x : y != y ? y : select(x > y, x - y, (T)0);)
XPU_MATH2(hypot, return __spirv_ocl_hypot(x, y);)
XPU_MATH2(heaviside, return x != x ? x : x == (T)0 ? y : (T)(x > (T)0);)
XPU_MATH2(trunc_div, return __spirv_ocl_trunc(x / y);)

// The remainder of truncated division, exact: C's fmod, StableHLO's remainder.
XPU_MATH2(fmod, return __spirv_ocl_fmod(x, y);)

// Python's %: the result has the divisor's sign.
XPU_MATH2(remainder, T m = fmod(x, y); return select(m != (T)0 && (y < (T)0) != (m < (T)0), m + y, m);)

// Python's //, consistent with remainder; division by zero gives x / y.
XPU_MATH2(
    floor_div, T m = fmod(x, y); T d = (x - m) / y;
    d = select(m != (T)0 && (y < (T)0) != (m < (T)0), d - (T)1, d); T f = __spirv_ocl_floor(d);
    f = select(d - f > (T)0.5, f + (T)1, f); f = select(d != (T)0, f, __spirv_ocl_copysign((T)0, x / y));
    return select(y == (T)0, x / y, f);)

// x + z * (y - x), from whichever end is nearer, so that weight 1 gives y exactly.
XPU_MATH3(lerp, return select(z < (T)0.5, x + z * (y - x), y - (y - x) * ((T)1 - z));)

XPU_MATH2(remainder_ieee, return __spirv_ocl_remainder(x, y);)  // to the nearest multiple, ties to even
XPU_MATH1(saturate, return x > (T)0 ? (x < (T)1 ? x : (T)1) : (T)0;)  // NaN gives 0
XPU_MATH1(rcbrt, return (T)1 / __spirv_ocl_cbrt(x);)
XPU_MATH2(rhypot, return (T)1 / __spirv_ocl_hypot(x, y);)
XPU_MATH3(norm3d, return __spirv_ocl_hypot(__spirv_ocl_hypot(x, y), z);)
XPU_MATH1(logb, return __spirv_ocl_logb(x);)

// x to n decimal places (n may be negative), ties to even.
XPU_MATH2(
    round_decimals, T scale = __spirv_ocl_exp10(__spirv_ocl_fabs(y));
    scale = __spirv_ocl_rint(scale); T up = __spirv_ocl_rint(x * scale) / scale;
    T down = __spirv_ocl_rint(x / scale) * scale; return select(y < (T)0, down, up);)

// The next number of the type from x towards y.
XPU_FN float nextafter(float x, float y) { return __spirv_ocl_nextafter(x, y); }
XPU_FN double nextafter(double x, double y) { return __spirv_ocl_nextafter(x, y); }
template <class T> XPU_FN enable_if<same_type<T, half> || same_type<T, bf16>, T> nextafter(T x, T y) {
  float a = (float)x, b = (float)y;
  u16 bits = bits_as<u16>(x);
  u16 away = (u16)(bits + 1), nearer = (u16)(bits - 1);
  u16 tiny = signbit(b) ? (u16)0x8001 : (u16)1;
  u16 r = a == 0.0f ? tiny : (a < b) == (a > 0.0f) ? away : nearer;
  T step = bits_as<T>(r);
  step = a == b ? y : step;
  return a != a ? x : b != b ? y : step;
}

XPU_FN float ldexp(float x, int e) { return __spirv_ocl_ldexp(x, e); }
XPU_FN double ldexp(double x, int e) { return __spirv_ocl_ldexp(x, e); }

}  // namespace xpu

#endif
