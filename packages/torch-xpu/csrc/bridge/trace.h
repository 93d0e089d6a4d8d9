// Tells the callbacks of torch.xpu._gpu_trace, when there are any.
#pragma once

#include <c10/core/impl/GPUTrace.h>

namespace torch_xpu {

/// `tell(interpreter)` reports one event.
template <class F>
void traced(F&& tell) {
  if (auto* interpreter = c10::impl::GPUTrace::get_trace()) [[unlikely]]
    tell(**interpreter);
}

}  // namespace torch_xpu
