// The transpose of a square of numbers in the registers of a sub-group.
#ifndef XPU_DEVICE_TRANSPOSE_H
#define XPU_DEVICE_TRANSPOSE_H
#include <xpu/group.h>
#include <xpu/unrolled.h>

namespace xpu {

// Lane l of x[k] and lane k of x[l] change places: those whose numbers differ in the bit B, for all bits from B up.
template <int B = 1, class T> XPU_FN void transpose_lanes(Array<T, XPU_SUB_GROUP>& x) {
  i32 me = lane();
  unrolled<XPU_SUB_GROUP>([&](auto k) XPU_INLINE {
    if constexpr ((decltype(k)() & B) == 0) {
      T a = x[k], b = x[k + B], other = shuffle(me & B ? a : b, me ^ B);
      x[k] = me & B ? other : a;
      x[k + B] = me & B ? b : other;
    }
  });
  if constexpr (2 * B < XPU_SUB_GROUP) transpose_lanes<2 * B>(x);
}

}  // namespace xpu

#endif
