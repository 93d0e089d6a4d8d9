// Dropout with the numbers that a Bernoulli fill from the same generator state would give.
#ifndef XPU_DEVICE_DROPOUT_H
#define XPU_DEVICE_DROPOUT_H
#include <xpu/philox.h>

namespace xpu {

struct Dropout {
  u64 seed, block;    // of Philox
  float probability;  // of dropping an element

  // Returns the factor of element number `at`.
  XPU_FN float factor(u64 at) const {
    Random4 four = philox(seed, at >> 2, block);
    u32 low = at & 1 ? four[1] : four[0], high = at & 1 ? four[3] : four[2];
    return uniform(at & 2 ? high : low) < probability ? 0.0f : 1 / (1 - probability);
  }
};

}  // namespace xpu

#endif
