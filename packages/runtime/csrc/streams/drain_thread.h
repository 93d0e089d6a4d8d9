// A thread that computes for sleeping host threads, so that the CPU driver can use its core.
//
// OpenCL's CPU driver has one worker less than there are cores, because a host thread in clFinish() computes
// too. It does so until the queue is empty, and two threads that do so are slower than one. So a host thread
// that waits for an event, or for a queue that another thread drains, sleeps until the driver notifies it,
// and this thread drains the queue meanwhile.
#pragma once

#include "streams/stream_state.h"

namespace xpu {

/// Has the thread drain the stream. Never blocks. Returns false if there is no such thread, or the stream has
/// no native queue. Failures of the work are left to those who wait for it.
bool drain_in_background(StreamState& stream);
/// Call when a stream no longer waits for a host signal.
void notify_drain_thread();

}  // namespace xpu
