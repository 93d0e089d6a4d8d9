// Weights of sixteen, eight or four bits. A byte holds two numbers of four bits, a word of 32 bits eight.
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
  *low = stored.low();
  *high = stored.high();
}

// Returns 2^n, for n from -126 to 127.
XPU_FN float power_of_two(int n) { return bits_as<float>((u32)(n + 127) << 23); }

// How matmul_skinny reads words of 32 bits that hold numbers of B. The words pass prepare<EXACT>() first. Then
// number<EXACT>(word, j) returns number j, plus kBase, divided by unit<EXACT>() and by factor<EXACT>(j): the other factor of
// a product is multiplied by the latter beforehand, where it costs nothing. Where has_row_units<EXACT>() is true, numbers are
// so small that products could leave f32's range: the kernel then multiplies each row of the other factors by a power of two.
// nan_bits() is not 0 if the word has a NaN that number() does not return as NaN.
template <class B> struct WeightWord;

// Number j stays where it is in the word, and so comes out 2^(BITS * j) times as large. The last one is shifted: in its
// place it would be a sign.
template <int BITS> struct IntegerWord {
  static constexpr int kNumbers = 32 / BITS;
  static constexpr float kBase = 0;
  template <bool EXACT> static constexpr float unit() { return 1; }
  template <bool EXACT> static constexpr bool has_row_units() { return false; }
  template <bool EXACT> XPU_FN static float factor(int j) { return j == kNumbers - 1 ? 1.0f : 1.0f / (float)(1u << BITS * j); }
  template <bool EXACT> XPU_FN static u32 prepare(u32 word) { return word; }
  XPU_FN static u32 nan_bits(u32) { return 0; }
  XPU_FN static float lane_code() { return 0; }
  template <bool EXACT> XPU_FN static float number(u32 word, int j, float) {
    constexpr u32 mask = (1u << BITS) - 1;
    return (float)(i32)(j == kNumbers - 1 ? word >> (32 - BITS) : word & mask << BITS * j);
  }
};
// A number in two's complement is its bits with the highest one flipped, minus that bit.
template <int BITS> struct SignedWord : IntegerWord<BITS> {
  static constexpr float kBase = (float)(1 << (BITS - 1));
  template <bool EXACT> XPU_FN static u32 prepare(u32 word) { return word ^ (BITS == 4 ? 0x88888888u : 0x80808080u); }
};
template <> struct WeightWord<u4x2> : IntegerWord<4> {};
template <> struct WeightWord<i4x2> : SignedWord<4> {};
template <> struct WeightWord<u8> : IntegerWord<8> {};
template <> struct WeightWord<i8> : SignedWord<8> {};
// Every lane holds one of the sixteen numbers, and fetches those that it needs from the others.
template <> struct WeightWord<f4e2m1x2> : IntegerWord<4> {
  template <bool EXACT> XPU_FN static float factor(int) { return 1; }
  XPU_FN static float lane_code() { return bits_as<f4e2m1>((u8)lane()); }
  template <bool EXACT> XPU_FN static float number(u32 word, int j, float code) {
    return shuffle(code, (int)(word >> 4 * j & 15u));
  }
};

// Four numbers as fp16: those of the even bytes and those of the odd ones.
struct HalfPairs {
  u32 even, odd;
  XPU_FN float number(int j) const { return (float)bits_as<half>((u16)((j & 1 ? odd : even) >> 16 * (j >> 1))); }
};
struct FloatWord {
  static constexpr int kNumbers = 4;
  static constexpr float kBase = 0;
  template <bool EXACT> static constexpr float unit() { return 1; }
  template <bool EXACT> static constexpr bool has_row_units() { return false; }
  template <bool EXACT> XPU_FN static float factor(int) { return 1; }
  XPU_FN static u32 nan_bits(u32) { return 0; }
  XPU_FN static float lane_code() { return 0; }
};
struct WideFloatWord : FloatWord {
  static constexpr int kNumbers = 2;
  template <bool> XPU_FN static u32 prepare(u32 word) { return word; }
};
template <> struct WeightWord<bf16> : WideFloatWord {
  template <bool> XPU_FN static float number(u32 word, int j, float) {
    return bits_as<float>(j ? word & 0xffff0000u : word << 16);
  }
};
template <> struct WeightWord<half> : WideFloatWord {
  template <bool> XPU_FN static float number(u32 word, int j, float) {
    return (float)bits_as<half>((u16)(word >> 16 * j));
  }
};
template <> struct WeightWord<f8e5m2> : FloatWord {
  template <bool> XPU_FN static HalfPairs prepare(u32 word) { return {(word & 0x00ff00ffu) << 8, word & 0xff00ff00u}; }
  template <bool> XPU_FN static float number(HalfPairs word, int j, float) { return word.number(j); }
};
// The bits of e4m3, moved, are an fp16 that is 256 times smaller, or an f32 that is 2^120 times smaller; both are numbers
// where e4m3 has NaN. A subnormal e4m3 becomes a subnormal f32, which some devices treat as zero.
template <> struct WeightWord<f8e4m3> : FloatWord {
  template <bool EXACT> static constexpr float unit() { return EXACT ? 256.0f : 0x1p120f; }
  template <bool EXACT> static constexpr bool has_row_units() { return !EXACT; }
  template <bool EXACT> XPU_FN static auto prepare(u32 word) {
    if constexpr (EXACT)
      return HalfPairs{(word & 0x00800080u) << 8 | (word & 0x007f007fu) << 7, (word & 0x80008000u) | (word & 0x7f007f00u) >> 1};
    else
      return word;
  }
  template <bool> XPU_FN static float number(HalfPairs word, int j, float) { return word.number(j); }
  template <bool> XPU_FN static float number(u32 word, int j, float) {
    return bits_as<float>((u32)((i32)(word << (24 - 8 * j)) >> 4) & 0x87f00000u);
  }
  XPU_FN static u32 nan_bits(u32 word) { return ((word & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u; }
};

}  // namespace xpu

#endif
