// Streaming stores bypass the caches, for results too large to be read from a cache again: an ordinary store first
// reads the line that it overwrites.
//
// On a CPU they write whole lines. The CPU driver's compiler ignores "nontemporal", so they are written in assembly
// here. On other devices these are ordinary stores. A sub-group gathers its results in a block in local memory and
// then stores the block:
//
//   static xpu::Local<xpu::Block<float>, 1> block;
//   for (...) block[0].data[at + lane()] = x;                  kBlock elements in all
//   xpu::streaming_store(out + first, block[0]);
//   xpu::streaming_fence();                                    after the last block
#ifndef XPU_DEVICE_STREAMING_STORE_H
#define XPU_DEVICE_STREAMING_STORE_H
#include <xpu/local.h>

namespace xpu {

// Small, so that computing and storing overlap: a core has about ten buffers for lines that are being written.
constexpr int kBlock = 128;

template <class T> struct Block {
  alignas(64) T data[kBlock];
  u8 saved_register[64];  // the old value of the register through which lines are copied
};

#ifdef XPU_CPU_VECTOR
#define XPU_MOVE(REGISTER, AT) \
  "vmovups " AT "(%1), %%" REGISTER "; vmovntps %%" REGISTER ", " AT "(%0);"
#if XPU_CPU_VECTOR == 64
#define XPU_REGISTER "zmm31"
#define XPU_TWO_LINES XPU_MOVE("zmm31", "0") XPU_MOVE("zmm31", "64")
#else
#define XPU_REGISTER "ymm15"
#define XPU_TWO_LINES \
  XPU_MOVE("ymm15", "0") XPU_MOVE("ymm15", "32") XPU_MOVE("ymm15", "64") XPU_MOVE("ymm15", "96")
#endif

// Assembly cannot declare the register as clobbered here, so it is restored.
XPU_FN void stream_lines(u64 to, u64 from, u64 end) {
  asm volatile("vmovups %%" XPU_REGISTER ", (%2);"
               "1:" XPU_TWO_LINES
               "add $128, %0; add $128, %1; cmp %2, %1; jb 1b;"
               "vmovups (%2), %%" XPU_REGISTER ";"
               : "+r"(to), "+r"(from)
               : "r"(end)
               : "memory");
}
#endif

/// Called by all lanes of a sub-group together; the work-group must be that one sub-group.
template <class T> XPU_FN void streaming_store(global<T> to, Block<T>& block) {
  sub_group_barrier();
#ifdef XPU_CPU_VECTOR
  if ((u64)to % 64 == 0) {
    if (lane() == 0) stream_lines((u64)to, (u64)block.data, (u64)block.saved_register);
    return sub_group_barrier();
  }
#endif
  for (int i = 0; i < kBlock; i += XPU_SUB_GROUP) to[i + lane()] = block.data[i + lane()];
  sub_group_barrier();
}

/// Makes the stores visible to work that waits for the kernel. Called once, after the last block.
XPU_FN void streaming_fence() {
#ifdef XPU_CPU_VECTOR
  asm volatile("sfence" : : : "memory");
#endif
}

}  // namespace xpu

#endif
