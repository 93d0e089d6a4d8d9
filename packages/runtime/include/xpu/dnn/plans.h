// Choice of candidates: why one was chosen, and the cache of choices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu::dnn {

/// The candidates of the last call on this thread, in order: "onednn brg_matmul:avx512_core: used",
/// "onednn: refused (...)".
XPU_API std::vector<std::string> explain();

/// Says why oneDNN computes no matrix products on the device; empty if it does.
XPU_API std::string onednn_matmul_refusal(int device);

struct CacheStats {
  std::size_t entries = 0, hits = 0, misses = 0;
};
XPU_API CacheStats cache_stats();
XPU_API void clear_cache();

/// Tries only the candidate of this name from now on; "" tries all again. The initial value is
/// XPU_DNN_CANDIDATE.
XPU_API void force_candidate(const std::string& name);
XPU_API std::string forced_candidate();

}  // namespace xpu::dnn
