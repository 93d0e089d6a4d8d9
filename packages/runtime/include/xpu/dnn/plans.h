// The plans chosen for problems: why, the cache of them, and a forced choice. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu::dnn {

/// The candidates of the last call on this thread, in order: "onednn brg_matmul:avx512_core: used",
/// "onednn: rejected (...)".
XPU_API std::vector<std::string> explain();

/// Returns the reason why oneDNN computes no matrix products on the device, or "".
XPU_API std::string onednn_matmul_unsupported_reason(int device);

struct CacheStats {
  std::size_t entries = 0, hits = 0, misses = 0;
};
XPU_API CacheStats cache_stats();
XPU_API void clear_cache();

/// From now on only the candidate of this name is tried; "" tries all again. Clears the cache. The initial
/// value is XPU_DNN_CANDIDATE.
XPU_API void force_candidate(const std::string& name);
XPU_API std::string forced_candidate();

}  // namespace xpu::dnn
