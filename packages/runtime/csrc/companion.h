// A thread that computes in the place of a host that sleeps.
//
// OpenCL's CPU driver has a worker less than there are cores, because a host that waits for a queue computes
// along. It does so to the queue's end, and two that do so are slower than one. So a host that waits for an
// event in the midst of a queue, or for a queue that another one waits for, sleeps until it is told, and this
// thread waits for the queue in its place.
#pragma once

#include "stream_state.h"

namespace xpu {

/// Has the thread compute along until the stream is empty, unless somebody else does. False when there is no
/// such thread, or the host does not compute for the device.
bool compute_along(StreamState& stream);

}  // namespace xpu
