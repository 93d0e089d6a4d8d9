// Signals while the host waits: Ctrl-C ends a wait that would take long.
#pragma once

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

/// Has `ask` called about ten times a second by hosts that wait for much work. What it throws ends the wait;
/// the work goes on. It may be called on any thread that holds none of the runtime's locks.
XPU_API void set_interruption(void (*ask)());
/// Where much is queued on the stream, waits for that and asks meanwhile. For one who is about to wait
/// anyway, before anything is queued that must not be left alone.
XPU_API void wait_interruptibly(Stream stream);

}  // namespace xpu
