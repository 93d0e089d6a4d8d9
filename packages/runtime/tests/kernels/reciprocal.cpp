// The reciprocals of the host's kernels.
#include "kernels/reciprocal.h"

extern "C" std::uint64_t reciprocal_of(std::uint32_t divisor) {
  auto reciprocal = xpu::kernels::reciprocal_of(divisor);
  return std::uint64_t{reciprocal.shift} << 32 | reciprocal.multiplier;
}
