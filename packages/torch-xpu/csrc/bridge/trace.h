// Calls the callbacks of torch.xpu._gpu_trace, if there are any.
#pragma once

#include <c10/core/impl/GPUTrace.h>

#include "bridge/interpreter.h"

namespace torch_xpu {

/// Calls `report(functions)` to report one event. `functions` are those of the Python interpreter, such as
/// trace_gpu_event_record(), which run the callbacks. Does nothing before the first callback is registered,
/// or once Python has ended.
template <class F>
void fire_gpu_trace(F&& report) {
  auto* functions = c10::impl::GPUTrace::get_trace();
  if (!functions) [[likely]]
    return;
  if (auto* python = interpreter()) python->run_callback([&] { report(**functions); });
}

}  // namespace torch_xpu
