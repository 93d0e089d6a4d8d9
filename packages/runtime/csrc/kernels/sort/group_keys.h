// Equal keys brought together, in their order.
#pragma once

#include "kernels/scratch_buffer.h"
#include "xpu/stream.h"

namespace xpu::kernels {

struct KeyGroups {
  ScratchBuffer keys, positions;  ///< sorted; where each was
};

/// Sorts `n` keys of which the low `bits` count: u64 when `wide`, otherwise u32, as are the positions. Takes
/// `keys`.
KeyGroups group_keys(Stream stream, ScratchBuffer keys, std::int64_t n, int bits, bool wide);

}  // namespace xpu::kernels
