// Checks inside kernels: a failing kernel writes a record in pinned host memory, and the next wait throws
// KernelFault. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "xpu/abi.h"

namespace xpu {

/// The layout that device/xpu/fault.h writes. The first failing work-item sets the code by compare-and-swap.
struct FaultRecord {
  std::uint32_t code = 0, pad = 0;
  std::int64_t a = 0, b = 0;
};

/// The device's record, to pass to kernels as a pointer. Valid as long as the process lives.
XPU_API FaultRecord* fault_record(int device);
/// Registers a check and returns its code, the same for equal arguments. `text` may use {a} and {b}, e.g.
/// "index {a} is out of range for a dimension of {b}".
XPU_API std::uint32_t fault_code(std::string_view op, std::string_view text);

/// While one lives, what the calling thread registers is of the operation `op`, such as the one of a
/// framework that a program called. The outermost counts. `op` must outlive it.
class XPU_API FaultNameScope {
 public:
  explicit FaultNameScope(const char* op);
  ~FaultNameScope();
  FaultNameScope(const FaultNameScope&) = delete;
  FaultNameScope& operator=(const FaultNameScope&) = delete;

 private:
  const char* previous_;
};

}  // namespace xpu
