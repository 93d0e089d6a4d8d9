// The runtime's exceptions as PyTorch's: the same types that CUDA's would be.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>
#include <utility>

#include "xpu/error.h"

namespace torch_xpu {

/// Runs `work`; what the runtime throws comes out as c10::Error of the fitting kind.
template <class F>
decltype(auto) translated(F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const xpu::OutOfMemory& e) {
    // Where it was not an allocation of a tensor: the same words first.
    std::string_view what = e.what(), words = "XPU out of memory.";
    TORCH_CHECK_WITH(OutOfMemoryError, false, what.starts_with(words) ? "" : "XPU out of memory.\n", what);
  } catch (const xpu::Unsupported& e) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, e.what());
  } catch (const xpu::Error& e) {
    TORCH_CHECK(false, e.what());
  }
}

}  // namespace torch_xpu
