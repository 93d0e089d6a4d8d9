// The private pools that the calling thread has open.
#pragma once

#include "xpu/memory.h"

namespace xpu::memory {

/// Returns the innermost private pool of the thread on `device`, or 0 for the common pool.
PoolId thread_pool(int device);
void push_thread_pool(int device, PoolId pool);
/// Throws UsageError if the thread does not have it open.
void pop_thread_pool(int device, PoolId pool);

}  // namespace xpu::memory
