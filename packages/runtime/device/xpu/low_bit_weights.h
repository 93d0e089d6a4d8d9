// Weights of eight or four bits: a byte holds one number or two, a word of 32 bits holds eight numbers of four bits.
#ifndef XPU_DEVICE_LOW_BIT_WEIGHTS_H
#define XPU_DEVICE_LOW_BIT_WEIGHTS_H
#include <xpu/minifloat.h>

namespace xpu {

template <class B> XPU_FN void unpack_weights(B stored, float* low, float*) { *low = to<float>(stored); }
XPU_FN void unpack_weights(u4x2 stored, float* low, float* high) {
  *low = (float)uint4_low(stored.bits);
  *high = (float)uint4_high(stored.bits);
}
XPU_FN void unpack_weights(i4x2 stored, float* low, float* high) {
  *low = (float)int4_low(stored.bits);
  *high = (float)int4_high(stored.bits);
}
XPU_FN void unpack_weights(f4e2m1x2 stored, float* low, float* high) {
  *low = e2m1_value(stored.bits & 15u);
  *high = e2m1_value(stored.bits >> 4);
}

// How matmul_skinny reads words of 32 bits that hold numbers of B. prepare(word) does what serves all of them, and
// number() returns number j divided by kUnit and multiplied by factor(j), plus kBias; inverse_factor(j) is exact.
// nan_bits() is not 0 if a number is NaN that number() returns as another one.
template <class B> struct WeightWord;

// Masking alone gives numbers times 1, 16, 256 and 4096: a shift for each would cost as much as its multiplication.
template <> struct WeightWord<u4x2> {
  static constexpr int kNumbers = 8;
  static constexpr float kBias = 0, kUnit = 1;
  XPU_FN static float inverse_factor(int j) { return 1.0f / (float)(1 << 4 * (j & 3)); }
  XPU_FN static u32 prepare(u32 word) { return word; }
  XPU_FN static u32 nan_bits(u32) { return 0; }
  XPU_FN static float lane_code() { return 0; }
  XPU_FN static float number(u32 word, int j, float) {
    return (float)(i32)((j < 4 ? word : word >> 16) & (15u << 4 * (j & 3)));
  }
};
// A number in two's complement is its bits with the highest one flipped, minus 8.
template <> struct WeightWord<i4x2> : WeightWord<u4x2> {
  static constexpr float kBias = 8;
  XPU_FN static u32 prepare(u32 word) { return word ^ 0x88888888u; }
};
// Every lane holds one of the sixteen numbers, and fetches those that it needs from the others.
template <> struct WeightWord<f4e2m1x2> : WeightWord<u4x2> {
  XPU_FN static float inverse_factor(int) { return 1; }
  XPU_FN static float lane_code() { return e2m1_value((u32)lane() & 15u); }
  XPU_FN static float number(u32 word, int j, float code) { return shuffle(code, (int)(word >> 4 * j & 15u)); }
};

// Four numbers as fp16: those of the even bytes and those of the odd ones.
struct HalfPairs {
  u32 even, odd;
};
template <> struct WeightWord<f8e5m2> {
  static constexpr int kNumbers = 4;
  static constexpr float kBias = 0, kUnit = 1;
  XPU_FN static float inverse_factor(int) { return 1; }
  XPU_FN static HalfPairs prepare(u32 word) { return {(word & 0x00ff00ffu) << 8, word & 0xff00ff00u}; }
  XPU_FN static u32 nan_bits(u32) { return 0; }
  XPU_FN static float lane_code() { return 0; }
  XPU_FN static float number(HalfPairs word, int j, float) {
    return (float)bits_as<half>((u16)((j & 1 ? word.odd : word.even) >> 16 * (j >> 1)));
  }
};
// An fp16 with these bits is 256 times smaller, and a number where e4m3 has its NaN.
template <> struct WeightWord<f8e4m3> : WeightWord<f8e5m2> {
  static constexpr float kUnit = 256;
  XPU_FN static HalfPairs prepare(u32 word) {
    return {(word & 0x00800080u) << 8 | (word & 0x007f007fu) << 7, (word & 0x80008000u) | (word & 0x7f007f00u) >> 1};
  }
  XPU_FN static u32 nan_bits(u32 word) { return ((word & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u; }
};

}  // namespace xpu

#endif
