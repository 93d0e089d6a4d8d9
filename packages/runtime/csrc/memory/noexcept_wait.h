// Waits of the memory pools. They log errors of the wait itself; errors of the awaited work are thrown by the
// user's next wait.
#pragma once

#include "xpu/event.h"
#include "xpu/stream.h"

namespace xpu::memory {

/// Block until the event, or all work of the stream, has completed.
void wait_noexcept(const Event& event) noexcept;
void wait_noexcept(Stream stream) noexcept;

}  // namespace xpu::memory
