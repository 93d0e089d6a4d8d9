// Builtins that some backend's library lacks, each by a name of ours: what a target needs stands under its own macro
// here, and nowhere else.
#ifndef XPU_DEVICE_BACKEND_H
#define XPU_DEVICE_BACKEND_H
#include <xpu/core.h>

namespace xpu {

// The 32-bit word of another lane. Every lane of the sub-group must call it.
XPU_FN u32 shuffle_word(u32 x, u32 from) {
#ifdef __NVPTX__
  return (u32)__nvvm_shfl_sync_idx_i32(0xffffffffu, (int)x, (int)from, 31);
#else
  return __spirv_SubgroupShuffleINTEL(x, from);
#endif
}

// Stores `desired` if *word is `expected`; returns what was there. Relaxed; `word` points at 32 or 64 unsigned bits in
// any address space.
template <class P, class Bits> XPU_FN Bits compare_exchange(P word, Bits expected, Bits desired) {
#ifdef __NVPTX__
  __scoped_atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                     __MEMORY_SCOPE_DEVICE);
  return expected;
#else
  return __spirv_AtomicCompareExchange(word, kDevice, 0, 0, desired, expected);
#endif
}

}  // namespace xpu

#endif
