// Exceptions of the runtime: one hierarchy, mirrored one to one by Python exceptions.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "xpu/abi.h"

namespace xpu {

/// Base of all exceptions. A message says where, what failed, got, expected, and what to do.
struct XPU_API Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The caller's mistake: an unknown device, a wrong shape, a foreign pointer.
struct XPU_API UsageError : Error {
  using Error::Error;
};
/// A kernel needs more of the device than there is: local memory, work-items of a group, bytes of arguments.
/// Another configuration of it may run.
struct XPU_API OutOfResources : UsageError {
  using UsageError::UsageError;
};
/// The device or its driver failed, possibly in work enqueued earlier.
struct XPU_API DeviceError : Error {
  using Error::Error;
};
/// The process is shutting down, and its devices accept no more work.
struct XPU_API ShuttingDown : DeviceError {
  using DeviceError::DeviceError;
};
/// A check inside a kernel failed, such as an index out of range. Thrown by the next wait.
struct XPU_API KernelFault : DeviceError {
  using DeviceError::DeviceError;
};
/// No memory, even after the caches were emptied and the allocation was retried.
struct XPU_API OutOfMemory : Error {
  using Error::Error;
};
/// This device or backend does not support the operation.
struct XPU_API Unsupported : Error {
  using Error::Error;
};
/// Kernel source did not compile; the message contains the compiler's log.
struct XPU_API CompileError : Error {
  using Error::Error;
};
/// A bug in the runtime; please report it.
struct XPU_API InternalError : Error {
  using Error::Error;
};

/// The parts, as streams write them, in one string.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Throws `E` with the joined parts as its message.
template <class E, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw E(join(parts...));
}

/// Throws `E` unless `condition` holds.
template <class E, class... Parts>
void expect(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail<E>(parts...);
}

}  // namespace xpu
