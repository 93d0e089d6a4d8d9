// The runtime's exceptions as PyTorch's: the same types that CUDA's would be.
#pragma once

#include <c10/util/Exception.h>

#include <utility>

#include "xpu/error.h"

namespace torch_xpu {

/// Runs `work`; what the runtime throws comes out as c10::Error of the fitting kind.
template <class F>
decltype(auto) translated(F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const xpu::OutOfMemory& e) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, e.what());
  } catch (const xpu::Unsupported& e) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, e.what());
  } catch (const xpu::Error& e) {
    TORCH_CHECK(false, e.what());
  }
}

}  // namespace torch_xpu
