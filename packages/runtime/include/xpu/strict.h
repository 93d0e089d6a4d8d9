// What strict memory (XPU_STRICT_MEMORY=1) offers to the outside: is it on, and whose stack to print.
#pragma once

#include "xpu/abi.h"

namespace xpu::strict {

/// XPU_STRICT_MEMORY, read once: device memory is closed to host code, and work ends inside the call that
/// queues it.
XPU_API bool enabled();
/// Called when something touches closed memory, to print the caller's own stack (Python's) to a file. It runs
/// in a signal handler: it must be async-signal-safe.
XPU_API void set_stack_printer(void (*print)(int file));

}  // namespace xpu::strict
