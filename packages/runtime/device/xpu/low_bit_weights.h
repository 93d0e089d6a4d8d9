// Unpacks a byte of weights: one number of eight bits, or two of four.
#ifndef XPU_DEVICE_LOW_BIT_WEIGHTS_H
#define XPU_DEVICE_LOW_BIT_WEIGHTS_H
#include <xpu/element.h>

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

}  // namespace xpu

#endif
