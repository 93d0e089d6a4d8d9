// PyTorch counts everything twice: for all blocks, and for those of the small or the large pool.
#pragma once

#include "xpu/memory.h"

namespace xpu::memory {

inline void increase(Stat (&stat)[3], bool small, std::size_t by) {
  stat[all].increase(static_cast<std::int64_t>(by));
  stat[small ? small_pool : large_pool].increase(static_cast<std::int64_t>(by));
}

inline void decrease(Stat (&stat)[3], bool small, std::size_t by) {
  stat[all].decrease(static_cast<std::int64_t>(by));
  stat[small ? small_pool : large_pool].decrease(static_cast<std::int64_t>(by));
}

/// Calls `change` with each counter of `stats` except those of owners.
template <class F>
void for_each_stat(Stats& stats, F&& change) {
  for (auto* group :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split, &stats.allocated_bytes,
        &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes})
    for (Stat& stat : *group) change(stat);
}

}  // namespace xpu::memory
