// The floats of a byte and less beside e4m3fn and e5m2. Values are kept in them, and computed in float.
//
// to<T>(x) rounds to nearest even, as JAX's types of these names do. Past the largest number comes infinity where
// a format has one, else NaN, and the largest number itself where it has neither.
#ifndef XPU_DEVICE_SMALL_FLOATS_H
#define XPU_DEVICE_SMALL_FLOATS_H
#include <xpu/convert.h>

namespace xpu {

// What a format has beside numbers: infinities and NaNs like IEEE's; one NaN, in the place of -0; nothing.
enum class Beside { infinities, one_nan, nothing };

template <int EXP, int MAN, int BIAS, Beside BESIDE> struct SmallFloat {
  static constexpr u32 kSign = 1u << (EXP + MAN);
  static constexpr u32 kAbove = BESIDE == Beside::infinities ? kSign - (1u << MAN) : kSign;  // the largest number
  static constexpr u32 kRebias = (u32)(127 - BIAS) << 23;

  u8 bits;
  SmallFloat() = default;
  XPU_FN explicit SmallFloat(float x) {
    // The largest number is odd, so that half a step above it is rounded away from it.
    constexpr u32 kLimit = ((kAbove - 1u) << (23 - MAN)) + (1u << (22 - MAN)) + kRebias;
    constexpr u32 kOver = BESIDE == Beside::nothing ? kAbove - 1u : kAbove;
    constexpr u32 kNan = BESIDE == Beside::infinities ? kAbove | 1u << (MAN - 1) : kSign;
    constexpr auto kMagnitude = 0x7fffffffu;
    u32 sign = bits_as<u32>(x) >> 31 ? kSign : 0u;
    u32 m = narrow_float<EXP, MAN, BIAS, kLimit, kOver, kNan>(bits_as<float>(bits_as<u32>(x) & kMagnitude));
    if constexpr (BESIDE == Beside::one_nan) sign = m == 0u ? 0u : sign;
    if constexpr (BESIDE == Beside::nothing) sign = m == kSign ? 0u : sign;
    bits = (u8)(m | sign);
  }
  XPU_FN operator float() const {
    u32 m = bits & (kSign - 1u);
    // Counted in the least number above 0, since the float of a subnormal's bits would be subnormal too.
    constexpr u32 kLeast = (u32)(128 - BIAS - MAN) << 23;
    float small = (float)m * bits_as<float>(kLeast);
    float f = m >> MAN ? bits_as<float>((m << (23 - MAN)) + kRebias) : small;
    if constexpr (BESIDE == Beside::infinities)
      f = m < kAbove ? f : bits_as<float>(0x7f800000u | (m - kAbove) << (23 - MAN));
    if constexpr (BESIDE == Beside::one_nan) f = bits == kSign ? nan() : f;
    return bits & kSign ? -f : f;
  }
};

using f8e3m4 = SmallFloat<3, 4, 3, Beside::infinities>;
using f8e4m3_ieee = SmallFloat<4, 3, 7, Beside::infinities>;
using f8e4m3b11fnuz = SmallFloat<4, 3, 11, Beside::one_nan>;
using f8e4m3fnuz = SmallFloat<4, 3, 8, Beside::one_nan>;
using f8e5m2fnuz = SmallFloat<5, 2, 16, Beside::one_nan>;
using f4e2m1 = SmallFloat<2, 1, 1, Beside::nothing>;

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

template <int EXP, int MAN, int BIAS, Beside BESIDE>
constexpr bool is_narrow<SmallFloat<EXP, MAN, BIAS, BESIDE>> = true;
template <> constexpr bool is_narrow<f8e8m0> = true;

}  // namespace xpu
#endif
