// Waits of the pools. They leave errors of the awaited work to the user's next wait, where they belong.
#pragma once

#include "xpu/event.h"
#include "xpu/stream.h"

namespace xpu::memory {

void wait_for_end(const Event& event) noexcept;
void wait_for_end(Stream stream) noexcept;

}  // namespace xpu::memory
