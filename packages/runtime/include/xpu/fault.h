// Checks inside kernels: the kernel writes one record in pinned host memory, the next wait throws
// KernelFault.
#pragma once

#include <cstdint>
#include <string_view>

#include "xpu/abi.h"

namespace xpu {

/// The layout that device/xpu/fault.h writes: the first failing work-item wins the code by compare-and-swap.
struct FaultRecord {
  std::uint32_t code = 0, pad = 0;
  std::int64_t a = 0, b = 0;
};

/// The device's record, to pass to kernels as a pointer.
XPU_API FaultRecord* fault_record(int device);
/// The code for a check: `text` may use {a} and {b}, e.g. "index {a} is out of range for a dimension of {b}".
XPU_API std::uint32_t fault_code(std::string_view op, std::string_view text);

}  // namespace xpu
