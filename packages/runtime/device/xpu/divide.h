// Division by a number that is known when the kernel is launched. It multiplies, because neither vectors of CPUs nor
// GPUs have an instruction that divides integers.
#ifndef XPU_DEVICE_DIVIDE_H
#define XPU_DEVICE_DIVIDE_H
#include <xpu/core.h>

namespace xpu {

// Of a divisor d, 1 <= d <= 2^31: shift is the least s with d <= 2^s, multiplier is 2^(31 + s) / d, rounded up. The host
// computes them: reciprocal_of() of csrc/kernels/reciprocal.h and of codegen/reciprocal.py.
struct Reciprocal {
  u32 multiplier, shift;
};

// n / d for 0 <= n < 2^31.
//
// The multiplier m is 2^31 if d = 1. Otherwise 2^(s - 1) <= d - 1, so that 2^(31 + s) / d <= 2^32 - 2^32 / d <= 2^32 - 2:
// m has 32 bits. Let m * d = 2^(31 + s) + e with 0 <= e < d. The function computes n * m / 2^(31 + s), rounded down, and
//   n * m / 2^(31 + s) = n / d + (n / 2^31) * (e / 2^s) / d.
// The second summand is not negative and less than 1 / d, because n < 2^31 and e < d <= 2^s. No integer is larger than
// n / d and smaller than (n + 1) / d, so the sum and n / d round down to the same number.
XPU_FN i32 divide(i32 n, Reciprocal r) {
  return (i32)((u32)((u64)(2 * (u32)n) * r.multiplier >> 32) >> r.shift);
}

}  // namespace xpu
#endif
