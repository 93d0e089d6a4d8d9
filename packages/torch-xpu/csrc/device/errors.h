// Converts the runtime's exceptions to PyTorch's, of the types that CUDA's would have.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>
#include <utility>

#include "xpu/error.h"

namespace torch_xpu {

/// Runs `work` and rethrows the runtime's exceptions as c10::Error of the matching type.
template <class F>
decltype(auto) translate_errors(F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const xpu::OutOfMemory& e) {
    // allocate_block() has written CUDA's words already; other allocations get them here.
    std::string_view what = e.what(), words = "XPU out of memory.";
    TORCH_CHECK_WITH(OutOfMemoryError, false, what.starts_with(words) ? "" : "XPU out of memory.\n", what);
  } catch (const xpu::Unsupported& e) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, e.what());
  } catch (const xpu::Error& e) {
    TORCH_CHECK(false, e.what());
  }
}

}  // namespace torch_xpu
