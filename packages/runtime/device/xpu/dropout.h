// Dropout with the numbers that a Bernoulli fill from the same generator state would give.
#ifndef XPU_DEVICE_DROPOUT_H
#define XPU_DEVICE_DROPOUT_H
#include <xpu/draw.h>

namespace xpu {

struct Dropout {
  u64 seed, block;    // of Philox
  float probability;  // of dropping an element

  // Returns the factor of element number `at`.
  XPU_FN float factor(u64 at) const {
    return draw_uniform<float>(seed, block, at) < probability ? 0.0f : 1 / (1 - probability);
  }
};

}  // namespace xpu

#endif
