// PJRT_Error: exceptions of the runtime and the compiler as errors of the C interface.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "xpu/error.h"

struct PJRT_Error;

namespace xla_xpu {

/// An exception with a PJRT_Error_Code.
struct PjrtFailure : std::runtime_error {
  PjrtFailure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

/// Throws a PjrtFailure with the joined parts as its message.
template <class... Parts>
[[noreturn]] void fail_with_code(int code, const Parts&... parts) {
  throw PjrtFailure(code, xpu::join(parts...));
}

/// The caller owns the result of these functions.
PJRT_Error* make_error(int code, std::string message);
PJRT_Error* error_of(const std::exception_ptr& exception);
/// Converts the exception being handled; call it in a catch block.
PJRT_Error* current_error();

}  // namespace xla_xpu
