// Random states for code that torch.compile generates.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "bridge/api.h"

namespace torch_xpu {

/// Returns {seed, block of Philox} of `count` fills, one a row, and advances the default generator of
/// `device` as eager fills would. Element e of a fill is the word e % 4 of the subsequence e / 4.
TORCH_XPU_PUBLIC at::Tensor random_states(int device, std::int64_t count);

}  // namespace torch_xpu
