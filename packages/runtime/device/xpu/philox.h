// Philox 4x32-10: counter-based random bits. The same (seed, subsequence, offset) gives the same
// numbers on every device and in any launch shape.
//
// The layout is the one PyTorch and cuRAND use: the key is the seed, the counter's low half the
// offset in blocks of four numbers, its high half the subsequence (one for each item or element).
#ifndef XPU_DEVICE_PHILOX_H
#define XPU_DEVICE_PHILOX_H
#include <xpu/core.h>

namespace xpu {

using Random4 = Array<u32, 4>;

XPU_FN Random4 philox4x32(Random4 counter, u32 key0, u32 key1) {
  for (int round = 0; round < 10; ++round) {
    u64 a = (u64)0xd2511f53u * counter[0];
    u64 b = (u64)0xcd9e8d57u * counter[2];
    counter = {(u32)(b >> 32) ^ counter[1] ^ key0, (u32)b, (u32)(a >> 32) ^ counter[3] ^ key1, (u32)a};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

XPU_FN Random4 philox(u64 seed, u64 subsequence, u64 block) {
  Random4 counter = {(u32)block, (u32)(block >> 32), (u32)subsequence, (u32)(subsequence >> 32)};
  return philox4x32(counter, (u32)seed, (u32)(seed >> 32));
}

// [0, 1): 24 bits, every value exact, so 1 can never come out.
XPU_FN float uniform(u32 bits) { return (float)(bits >> 8) * 0x1p-24f; }
// (0, 1): 23 bits with half a step added; fit for a logarithm at both ends.
XPU_FN float uniform_open(u32 bits) { return ((float)(bits >> 9) + 0.5f) * 0x1p-23f; }
// [0, 1) with 53 bits, for double results only.
XPU_FN double uniform(u32 high, u32 low) {
  return (double)((((u64)high << 32) | low) >> 11) * 0x1p-53;
}
XPU_FN double uniform_open(u32 high, u32 low) {
  return ((double)((((u64)high << 32) | low) >> 12) + 0.5) * 0x1p-52;
}

// 0 <= result < range, by the high part of the product: no division and no visible bias for the
// ranges of 32 bits; larger ranges take 64 random bits.
XPU_FN u32 to_range(u32 bits, u32 range) { return (u32)(((u64)bits * range) >> 32); }
XPU_FN u64 to_range(u32 high, u32 low, u64 range) {
  return __spirv_ocl_u_mul_hi(((u64)high << 32) | low, range);
}

// Two independent standard normals from two words (Box-Muller).
XPU_FN Array<float, 2> normal2(u32 a, u32 b) {
  float radius = __spirv_ocl_sqrt(-2.0f * __spirv_ocl_log(uniform_open(a)));
  float turn = 2.0f * uniform(b);
  return {radius * __spirv_ocl_cospi(turn), radius * __spirv_ocl_sinpi(turn)};
}

// Two normals in double from all four words.
XPU_FN Array<double, 2> normal2(Random4 r) {
  double radius = __spirv_ocl_sqrt(-2.0 * __spirv_ocl_log(uniform_open(r[0], r[1])));
  double turn = 2.0 * uniform(r[2], r[3]);
  return {radius * __spirv_ocl_cospi(turn), radius * __spirv_ocl_sinpi(turn)};
}

// Exponential with rate 1, and the standard Cauchy distribution.
XPU_FN float exponential(u32 bits) { return -__spirv_ocl_log(uniform_open(bits)); }
XPU_FN float cauchy(u32 bits) { return __spirv_ocl_tanpi(uniform_open(bits) - 0.5f); }

}  // namespace xpu

#endif
