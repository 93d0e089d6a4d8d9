// Sums of many numbers that round. Accumulators sum a block of elements, their sums blocks of blocks: an error is that of
// some 16 additions for each level, not of all.
#ifndef XPU_DEVICE_BLOCKED_SUMS_H
#define XPU_DEVICE_BLOCKED_SUMS_H
#include <xpu/core.h>

namespace xpu {

// COUNT accumulators of an item, which the caller updates: `combine(a, b)` returns the State of what both have seen,
// `identity` is that of nothing. Few updates cost nothing but counting.
template <class State, int COUNT> struct BlockedSums {
  State s[COUNT];

  XPU_FN explicit BlockedSums(const State& identity) {
#pragma unroll
    for (int w = 0; w < COUNT; ++w) s[w] = identity;
  }

  // Says how many of `wanted` updates of each accumulator may follow.
  template <class Combine> XPU_FN i64 room(i64 wanted, const State& identity, Combine combine) {
    if (left_ <= 0) {
      left_ = kBlock;
      end_block(identity, combine);
    }
    return wanted < left_ ? wanted : left_;
  }

  // Tells that each accumulator has had `count` updates more.
  XPU_FN void updated(i64 count) { left_ -= (i32)count; }

  // Puts the sums of all updates into `s`.
  template <class Combine> XPU_FN void finish(Combine combine) {
#pragma unroll
    for (int level = 0; level < kLevels; ++level)
      if (level < used_)
#pragma unroll
        for (int w = 0; w < COUNT; ++w) s[w] = combine(blocks_[level][w], s[w]);
  }

 private:
  static constexpr int kLevels = 3, kBlock = 16;
  State blocks_[kLevels][COUNT];  // sums of blocks, of blocks of blocks, ...
  i32 blocks_left_[kLevels];
  i32 left_ = kBlock, used_ = 0;  // used: the levels that have sums

  template <class Combine> XPU_FN void end_block(const State& identity, Combine combine) {
    move(s, 0, combine);
#pragma unroll
    for (int w = 0; w < COUNT; ++w) s[w] = identity;
#pragma unroll
    for (int level = 1; level < kLevels; ++level) {
      if (--blocks_left_[level - 1] > 0) return;
      move(blocks_[level - 1], level, combine);
      blocks_left_[level - 1] = kBlock;
#pragma unroll
      for (int w = 0; w < COUNT; ++w) blocks_[level - 1][w] = identity;
    }
  }

  template <class Combine> XPU_FN void move(const State (&from)[COUNT], int level, Combine combine) {
    const bool first = level >= used_;
    if (first) used_ = level + 1, blocks_left_[level] = kBlock;
#pragma unroll
    for (int w = 0; w < COUNT; ++w) blocks_[level][w] = first ? from[w] : combine(blocks_[level][w], from[w]);
  }
};

}  // namespace xpu
#endif
