// Floats of at most 8 bits other than e4m3fn and e5m2. They only store values: arithmetic is in float.
//
// to<T>(x) rounds to nearest even, as JAX's types of these names do. Numbers too large become infinity if the format
// has one, otherwise NaN, and the largest number if it has neither.
#ifndef XPU_DEVICE_MINIFLOAT_H
#define XPU_DEVICE_MINIFLOAT_H
#include <xpu/element.h>

namespace xpu {

// The special values of a format: infinities and NaNs as in IEEE 754; one NaN, encoded as -0; or none.
enum class SpecialValues { infinities, one_nan, none };

template <int EXP, int MAN, int BIAS, SpecialValues SPECIAL> struct Minifloat {
  static constexpr u32 kSign = 1u << (EXP + MAN);
  // One above the bits of the largest finite number.
  static constexpr u32 kFiniteEnd = SPECIAL == SpecialValues::infinities ? kSign - (1u << MAN) : kSign;
  static constexpr u32 kRebias = (u32)(127 - BIAS) << 23;
  static constexpr int kMantissaBits = MAN;
  static constexpr float kMax = __builtin_bit_cast(float, ((kFiniteEnd - 1u) << (23 - MAN)) + kRebias);

  u8 bits;
  Minifloat() = default;
  XPU_FN explicit Minifloat(float x) {
    // The largest number is odd, so halfway above it rounds up.
    constexpr u32 kLimit = ((kFiniteEnd - 1u) << (23 - MAN)) + (1u << (22 - MAN)) + kRebias;
    constexpr u32 kOver = SPECIAL == SpecialValues::none ? kFiniteEnd - 1u : kFiniteEnd;
    constexpr u32 kNan = SPECIAL == SpecialValues::infinities ? kFiniteEnd | 1u << (MAN - 1) : kSign;
    constexpr auto kMagnitude = 0x7fffffffu;
    u32 sign = bits_as<u32>(x) >> 31 ? kSign : 0u;
    u32 m = narrow_float<EXP, MAN, BIAS, kLimit, kOver, kNan>(bits_as<float>(bits_as<u32>(x) & kMagnitude));
    if constexpr (SPECIAL == SpecialValues::one_nan) sign = m == 0u ? 0u : sign;
    if constexpr (SPECIAL == SpecialValues::none) sign = m == kSign ? 0u : sign;
    bits = (u8)(m | sign);
  }
  XPU_FN operator float() const {
    u32 m = bits & (kSign - 1u);
    // Subnormals are multiples of the smallest positive number. Their bits as a float would be subnormal too.
    constexpr u32 kSmallest = (u32)(128 - BIAS - MAN) << 23;
    float small = (float)m * bits_as<float>(kSmallest);
    float f = m >> MAN ? bits_as<float>((m << (23 - MAN)) + kRebias) : small;
    if constexpr (SPECIAL == SpecialValues::infinities)
      f = m < kFiniteEnd ? f : bits_as<float>(0x7f800000u | (m - kFiniteEnd) << (23 - MAN));
    if constexpr (SPECIAL == SpecialValues::one_nan) f = bits == kSign ? nan() : f;
    return bits & kSign ? -f : f;
  }
};

using f8e3m4 = Minifloat<3, 4, 3, SpecialValues::infinities>;
using f8e4m3_ieee = Minifloat<4, 3, 7, SpecialValues::infinities>;
using f8e4m3b11fnuz = Minifloat<4, 3, 11, SpecialValues::one_nan>;
using f8e4m3fnuz = Minifloat<4, 3, 8, SpecialValues::one_nan>;
using f8e5m2fnuz = Minifloat<5, 2, 16, SpecialValues::one_nan>;
using f4e2m1 = Minifloat<2, 1, 1, SpecialValues::none>;

// A power of two from 2^-127 to 2^127, or NaN, which zero and negative numbers become; ties are rounded up.
struct f8e8m0 {
  u8 bits;
  f8e8m0() = default;
  XPU_FN explicit f8e8m0(float x) {
    u32 u = bits_as<u32>(x);
    u32 subnormal = u > 0x400000u;  // all above 2^-127 is 2^-126, as JAX has it
    u32 rounded = u < 0x800000u ? subnormal : (u >> 23) + ((u >> 22) & 1u);
    bits = (u8)(u == 0u || rounded > 254u ? 255u : rounded);
  }
  XPU_FN operator float() const {
    float f = bits_as<float>(bits ? (u32)bits << 23 : 0x400000u);
    return bits == 255u ? nan() : f;
  }
};

// Two f4e2m1 in a byte, the low half first. An f4e2m1 does not look at the high half of its byte.
struct f4e2m1x2 {
  u8 bits;
  XPU_FN float low() const { return bits_as<f4e2m1>(bits); }
  XPU_FN float high() const { return bits_as<f4e2m1>((u8)(bits >> 4)); }
};

template <class To> XPU_FN To load_as(global<const f4e2m1x2> p, i64 i) {
  return to<To>((float)bits_as<f4e2m1>((u8)(p[i >> 1].bits >> (i & 1) * 4)));
}

template <int EXP, int MAN, int BIAS, SpecialValues SPECIAL>
constexpr bool is_narrow<Minifloat<EXP, MAN, BIAS, SPECIAL>> = true;
template <> constexpr bool is_narrow<f8e8m0> = true;

}  // namespace xpu
#endif
