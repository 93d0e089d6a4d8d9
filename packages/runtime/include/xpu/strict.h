// Strict memory (XPU_STRICT_MEMORY=1): host code that touches device memory ends the process with a report.
#pragma once

#include "xpu/abi.h"

namespace xpu::strict {

/// The value of XPU_STRICT_MEMORY, read once. If true, host code cannot access device memory, and enqueue()
/// blocks until the work has completed.
XPU_API bool enabled();
/// Sets the function that prints the stack of the offending thread (Python's) to a file descriptor. It runs
/// in a signal handler, so it must be async-signal-safe.
XPU_API void set_stack_printer(void (*print)(int file));

}  // namespace xpu::strict
