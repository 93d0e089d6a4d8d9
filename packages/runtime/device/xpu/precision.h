// StableHLO's reduce_precision: floats rounded, to nearest even, to the values of a format with fewer bits of
// exponent or mantissa. Values too large for that format become infinite. If it has fewer bits of exponent,
// its subnormals become zero. NaN stays as it is, and so does the sign.
#ifndef XPU_DEVICE_PRECISION_H
#define XPU_DEVICE_PRECISION_H
#include <xpu/core.h>

namespace xpu {

// In both functions `a` is the magnitude, `last` the last bit of the mantissa that stays, `highest` the
// exponent of the format's largest finite values, and `lowest` the one just below that of its smallest normal
// values.
template <int EXPONENT, int MANTISSA> XPU_FN float reduce_precision(float x) {
  u32 b = bits_as<u32>(x), sign = b & 0x80000000u, a = b & 0x7fffffffu;
  if constexpr (MANTISSA < 23) {
    u32 last = 1u << (23 - MANTISSA);
    a = (a + ((a & last) ? last / 2 : last / 2 - 1)) & ~(last - 1);
  }
  if constexpr (EXPONENT < 8) {
    constexpr u32 bias = (1u << (EXPONENT - 1)) - 1, highest = (127 + bias) << 23, lowest = (127 - bias) << 23;
    u32 exponent = a & 0x7f800000u;
    a = exponent > highest ? 0x7f800000u : exponent <= lowest ? 0u : a;
  }
  return x != x ? x : bits_as<float>(sign | a);
}
template <int EXPONENT, int MANTISSA> XPU_FN double reduce_precision(double x) {
  u64 b = bits_as<u64>(x), sign = b & (1ul << 63), a = b & ~(1ul << 63);
  if constexpr (MANTISSA < 52) {
    u64 last = 1ul << (52 - MANTISSA);
    a = (a + ((a & last) ? last / 2 : last / 2 - 1)) & ~(last - 1);
  }
  if constexpr (EXPONENT < 11) {
    constexpr u64 bias = (1ul << (EXPONENT - 1)) - 1, highest = (1023 + bias) << 52, lowest = (1023 - bias) << 52;
    u64 exponent = a & 0x7fful << 52;
    a = exponent > highest ? 0x7fful << 52 : exponent <= lowest ? 0ul : a;
  }
  return x != x ? x : bits_as<double>(sign | a);
}

}  // namespace xpu

#endif
