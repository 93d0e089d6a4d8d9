// Bounds how far the host may be ahead of a device.
#pragma once

#include "streams/stream_state.h"

namespace xpu {

/// Counts a submission; blocks while too many are pending on the stream. Does not throw for Ctrl-C.
void count_and_throttle(StreamState& stream);

}  // namespace xpu
