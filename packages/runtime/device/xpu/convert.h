// Storage types narrower than float, and every conversion between scalar types.
//
// to<T>(x)      PyTorch's rules. Float to integer truncates; a value out of the integer's range
//               saturates and NaN gives 0 (C++ leaves both undefined), except that a float going to
//               u8 wraps through i64, as PyTorch defines. Integer to integer wraps. Anything to bool
//               is x != 0. Float to float rounds to nearest even; fp8 overflow is NaN for e4m3fn
//               (which has no infinity) and infinity for e5m2.
// to_sat<T>(x)  Float to integer always saturates (StableHLO); fp8 overflow and infinity give the
//               largest finite value (Triton, and hardware satfinite). NaN stays NaN, or 0.
//
// Nothing here uses double unless a double is passed in, and bf16 needs no device support.
#ifndef XPU_DEVICE_CONVERT_H
#define XPU_DEVICE_CONVERT_H
#include <xpu/core.h>

namespace xpu {

// Round to nearest even; every NaN becomes the canonical quiet NaN 0x7fc0.
XPU_FN u16 bf16_from_float(float x) {
  u32 u = bits_as<u32>(x);
  u32 rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (u16)(x != x ? 0x7fc0u : rounded);
}

XPU_FN float float_from_bf16(u16 b) { return bits_as<float>((u32)b << 16); }

struct bf16 {
  u16 bits;
  bf16() = default;
  XPU_FN explicit bf16(float x) : bits(bf16_from_float(x)) {}
  XPU_FN operator float() const { return float_from_bf16(bits); }
};

// Round to nearest even into a format of EXP exponent bits (bias BIAS) and MAN mantissa bits.
// The magnitude above LIMIT (float bits of the first value that rounds away from finite) is OVER.
template <int EXP, int MAN, int BIAS, u32 LIMIT, u32 OVER, u32 NAN_BITS> XPU_FN u8 narrow_float(float x) {
  u32 u = bits_as<u32>(x);
  u32 sign = (u >> 31) << (EXP + MAN);
  u32 a = u & 0x7fffffffu;
  constexpr u32 kMinNormal = (u32)(127 - BIAS + 1) << 23;
  // Adding this constant makes the float unit round the mantissa where the subnormal ends.
  constexpr u32 kMagic = (u32)(127 - BIAS + 1 + 23 - MAN) << 23;
  u32 sub = bits_as<u32>(bits_as<float>(a) + bits_as<float>(kMagic)) - kMagic;
  u32 odd = (a >> (23 - MAN)) & 1u;
  u32 norm = (a - ((u32)(127 - BIAS) << 23) + (1u << (22 - MAN)) - 1u + odd) >> (23 - MAN);
  u32 r = a < kMinNormal ? sub : norm;
  r = a >= LIMIT ? OVER : r;
  r = a > 0x7f800000u ? NAN_BITS : r;
  return (u8)(sign | r);
}

struct f8e4m3 {  // e4m3fn: no infinity, one NaN pattern a sign
  static constexpr int kMantissaBits = 3;
  static constexpr float kMax = 448;
  u8 bits;
  f8e4m3() = default;
  // 464 is the tie between 448 and what would be 480: it rounds to even, that is to 448.
  XPU_FN explicit f8e4m3(float x) : bits(narrow_float<4, 3, 7, 0x43e80001u, 0x7fu, 0x7fu>(x)) {}
  // An fp16 of the same bits is 256 times smaller; the hardware widens its subnormals at no extra cost, which
  // arithmetic on subnormal floats would have.
  XPU_FN operator float() const {
    u32 m = bits & 0x7fu;
    float f = (float)bits_as<half>((u16)((u32)(bits >> 7) << 15 | m << 7)) * 256.0f;
    return m == 0x7fu ? nan() : f;
  }
};

struct f8e5m2 {  // IEEE-like: infinities, NaNs
  static constexpr int kMantissaBits = 2;
  static constexpr float kMax = 57344;
  u8 bits;
  f8e5m2() = default;
  XPU_FN explicit f8e5m2(float x) : bits(narrow_float<5, 2, 15, 0x47700000u, 0x7cu, 0x7fu>(x)) {}
  // The pattern is the upper half of an fp16.
  XPU_FN operator float() const { return (float)bits_as<half>((u16)(bits << 8)); }
};

XPU_FN f8e4m3 f8e4m3_saturated(float x) {
  f8e4m3 r;
  r.bits = narrow_float<4, 3, 7, 0x43e00000u, 0x7eu, 0x7fu>(x);
  return r;
}

XPU_FN f8e5m2 f8e5m2_saturated(float x) {
  f8e5m2 r;
  r.bits = narrow_float<5, 2, 15, 0x47600000u, 0x7bu, 0x7fu>(x);
  return r;
}

// Two int4 in a byte, the low nibble first.
XPU_FN i32 int4_low(u8 packed) { return (i32)((u32)packed << 28) >> 28; }
XPU_FN i32 int4_high(u8 packed) { return (i32)(i8)packed >> 4; }
XPU_FN i32 uint4_low(u8 packed) { return packed & 15; }
XPU_FN i32 uint4_high(u8 packed) { return packed >> 4; }
XPU_FN u8 int4_pack(i32 low, i32 high) { return (u8)((low & 15) | (high << 4)); }

template <class T>
constexpr bool is_narrow =
    same_type<T, half> || same_type<T, bf16> || same_type<T, f8e4m3> || same_type<T, f8e5m2>;
template <class T> constexpr bool is_float = same_type<T, float> || same_type<T, double> || is_narrow<T>;
template <class T> constexpr bool is_bool = same_type<T, bool>;
template <class T> constexpr bool is_signed = (T)-1 < (T)0;

// The type arithmetic is done in: float for 8- and 16-bit floats, otherwise the type itself.
template <class T, bool N = is_narrow<T>> struct OpMath { using type = T; };
template <class T> struct OpMath<T, true> { using type = float; };
template <class T> using opmath = typename OpMath<T>::type;

// Limits of the integer type T, and the first float above its range.
template <class T> constexpr int width_of = (int)sizeof(T) * 8;
template <class T> constexpr T int_max = (T)(is_signed<T> ? ~0ull >> (65 - width_of<T>) : ~0ull >> (64 - width_of<T>));
template <class T> constexpr T int_min = (T)(is_signed<T> ? ~int_max<T> : (T)0);

template <class T, class F> XPU_FN T saturating_int(F x) {
  constexpr F kAbove = (F)(1ull << (width_of<T> - 1 - is_signed<T>)) * (F)2;
  constexpr F kBelow = is_signed<T> ? -kAbove : (F)0;
  T r = (T)(x > kBelow && x < kAbove ? x : (F)0);
  r = x >= kAbove ? int_max<T> : r;
  return x <= kBelow ? int_min<T> : r;
}

template <class T, bool SAT, class F> XPU_FN T convert(F x) {
  if constexpr (same_type<T, F>) {
    return x;
  } else if constexpr (is_narrow<F>) {
    return convert<T, SAT>((float)x);
  } else if constexpr (is_bool<T>) {
    return x != (F)0;
  } else if constexpr (SAT && same_type<T, f8e4m3>) {
    return f8e4m3_saturated((float)x);
  } else if constexpr (SAT && same_type<T, f8e5m2>) {
    return f8e5m2_saturated((float)x);
  } else if constexpr (is_float<T>) {
    if constexpr (same_type<T, half> || same_type<T, double> || same_type<T, float>) return (T)x;
    else return T((float)x);
  } else if constexpr (is_float<F>) {
    if constexpr (same_type<T, u8> && !SAT) return (u8)saturating_int<i64>(x);
    else return saturating_int<T>(x);
  } else {
    return (T)x;
  }
}

template <class T, class F> XPU_FN T to(F x) { return convert<T, false>(x); }
template <class T, class F> XPU_FN T to_sat(F x) { return convert<T, true>(x); }

}  // namespace xpu

// Gives a function of one, two or three floats its overloads for the narrow floats: computed in
// float, rounded once.
#define XPU_NARROW1(name)                                                                            \
  template <class T> XPU_FN xpu::enable_if<xpu::is_narrow<T>, T> name(T x) {                         \
    return xpu::to<T>(name((float)x));                                                               \
  }
#define XPU_NARROW2(name)                                                                            \
  template <class T> XPU_FN xpu::enable_if<xpu::is_narrow<T>, T> name(T x, T y) {                    \
    return xpu::to<T>(name((float)x, (float)y));                                                     \
  }
#define XPU_NARROW3(name)                                                                            \
  template <class T> XPU_FN xpu::enable_if<xpu::is_narrow<T>, T> name(T x, T y, T z) {               \
    return xpu::to<T>(name((float)x, (float)y, (float)z));                                           \
  }

#endif
