// Selection by digits, from the most significant one on: what the kernels of selections on a GPU share.
#ifndef XPU_DEVICE_RADIX_SELECT_H
#define XPU_DEVICE_RADIX_SELECT_H
#include <xpu/group.h>

namespace xpu {

constexpr int kSelectBits = 11, kSelectDigits = 1 << kSelectBits;
template <class W> constexpr int kSelectRounds = ((int)sizeof(W) * 8 + kSelectBits - 1) / kSelectBits;
// The last digit may be short: the bits above it are known by then.
template <class W> XPU_FN int select_shift(int round) {
  return max_of((int)sizeof(W) * 8 - (round + 1) * kSelectBits, 0);
}

// The leading bits of the element sought, as far as they are known.
template <class W> struct SelectPrefix {
  W bits = 0, mask = 0;
  XPU_FN bool agrees(W x) const { return (W)(x & mask) == bits; }
  XPU_FN int digit(W x, int shift) const { return (int)((W)(x & (W)~mask) >> shift); }
  XPU_FN void extend(int digit, int shift) {
    bits = (W)(bits | (W)((W)digit << shift));
    mask = (W)((W)~(W)0 << shift);
  }
};

struct SelectDigit {
  u32 value, before, count;  // elements with smaller digits, and with this one
};

// The digit of element `wanted`, counted from 1. Every item of the group calls it once the counters are complete; they may
// be overwritten after it.
XPU_FN SelectDigit select_digit(Local<u32, kSelectDigits>& counters, Local<u32, 3>& found, u32 wanted) {
  int each = (kSelectDigits + local_size() - 1) / local_size();
  int begin = min_of(local_id() * each, kSelectDigits), end = min_of(begin + each, kSelectDigits);
  u32 sum = 0;
  for (int d = begin; d < end; ++d) sum += counters[d];
  u32 before = group_exclusive_scan(sum, Sum(), 0u);
  if (before < wanted && wanted - before <= sum) {
    int d = begin;
    for (; wanted - before > counters[d]; ++d) before += counters[d];
    found[0] = (u32)d;
    found[1] = before;
    found[2] = counters[d];
  }
  barrier();
  return {found[0], found[1], found[2]};
}

// Calls f(load(i)) for begin, begin + step, ... below end. Several loads are on their way at a time.
template <class Load, class F> XPU_FN void each_loaded(i64 begin, i64 end, i64 step, Load load, F f) {
  constexpr int kLoads = 4;
  for (i64 i = begin; i < end; i += kLoads * step) {
    Array<decltype(load(i)), kLoads> loaded;
#pragma unroll
    for (int j = 0; j < kLoads; ++j) loaded[j] = load(min_of(i + j * step, end - 1));
#pragma unroll
    for (int j = 0; j < kLoads; ++j)
      if (i + j * step < end) f(loaded[j]);
  }
}

}  // namespace xpu

#endif
