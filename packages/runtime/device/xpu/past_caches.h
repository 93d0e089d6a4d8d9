// Stores that go past the caches, for results too large to be found there again: an ordinary store first reads
// the line that it overwrites.
//
// A CPU writes whole lines so, and its driver's compiler has no instruction for it (it forgets that a store is
// "nontemporal"), so that one of the machine's own is written here. Elsewhere these are ordinary stores. A
// sub-group gathers its results in a block in local memory, and then sends that off:
//
//   static xpu::Local<xpu::Block<float>, 1> block;
//   for (...) block[0].data[at + lane()] = x;                  kBlock elements in all
//   xpu::send_past_caches(out + first, block[0]);
#ifndef XPU_DEVICE_PAST_CACHES_H
#define XPU_DEVICE_PAST_CACHES_H
#include <xpu/local.h>

namespace xpu {

// Few, so that computing and storing overlap: a core has buffers for some ten lines on their way.
constexpr int kBlock = 128;

template <class T> struct Block {
  alignas(64) T data[kBlock];
  u8 kept[64];  // what the register held that the lines go through
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

// Assembly cannot name the register as changed here, so it is put back.
XPU_FN void send_lines(u64 to, u64 from, u64 end) {
  asm volatile("vmovups %%" XPU_REGISTER ", (%2);"
               "1:" XPU_TWO_LINES
               "add $128, %0; add $128, %1; cmp %2, %1; jb 1b;"
               "vmovups (%2), %%" XPU_REGISTER ";"
               : "+r"(to), "+r"(from)
               : "r"(end)
               : "memory");
}
#endif

/// For all lanes of a sub-group together, which are all of a group's.
template <class T> XPU_FN void send_past_caches(global<T> to, Block<T>& block) {
  sub_group_barrier();
#ifdef XPU_CPU_VECTOR
  if ((u64)to % 64 == 0) {
    if (lane() == 0) send_lines((u64)to, (u64)block.data, (u64)block.kept);
    return sub_group_barrier();
  }
#endif
  for (int i = 0; i < kBlock; i += XPU_SUB_GROUP) to[i + lane()] = block.data[i + lane()];
  sub_group_barrier();
}

/// After the last block: makes them visible to who waits for the kernel.
XPU_FN void finish_past_caches() {
#ifdef XPU_CPU_VECTOR
  asm volatile("sfence" : : : "memory");
#endif
}

}  // namespace xpu

#endif
