// Launches of kernels: how many work-items run with which arguments.
#pragma once

#include <cstddef>

#include "xpu/abi.h"
#include "xpu/arguments.h"
#include "xpu/module.h"
#include "xpu/stream.h"

namespace xpu {

/// Number of work-items in all and in a group, slowest dimension first, as in SYCL.
struct NdRange {
  int dims = 1;
  std::size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  static NdRange linear(std::size_t groups, std::size_t group) {
    return {1, {groups * group, 1, 1}, {group, 1, 1}};
  }
};

/// Throws UsageError unless the kernel's parameters are of these sizes, as far as its image tells them.
XPU_API void require_parameters(const Kernel& kernel, const ArgumentList& args);

/// Enqueues the kernel; see enqueue(). `bytes` is what it moves, for traces. Throws UsageError for wrong
/// arguments or a stream of another device, and OutOfResources for more work-items in a group or more groups
/// than the device allows. An empty range does nothing.
XPU_API void launch(Stream stream, const Kernel& kernel, const NdRange& range, const ArgumentList& args,
                    std::size_t bytes = 0);

}  // namespace xpu
