// What was chosen for a problem, and why; the cache of choices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu::dnn {

/// The candidates of the last call on this thread, in order: "onednn brg_matmul:avx512_core: used",
/// "onednn: refused (...)".
XPU_API std::vector<std::string> explain();

/// Why oneDNN does no matrix product on the device; empty when it does.
XPU_API std::string onednn_matmul_unsupported_reason(int device);

struct CacheStats {
  std::size_t entries = 0, hits = 0, misses = 0;
};
XPU_API CacheStats cache_stats();
XPU_API void clear_cache();

/// From now on only the candidate of this name is asked ("" asks all again); XPU_DNN_CANDIDATE is the first
/// value.
XPU_API void force_candidate(const std::string& name);
XPU_API std::string forced_candidate();

}  // namespace xpu::dnn
