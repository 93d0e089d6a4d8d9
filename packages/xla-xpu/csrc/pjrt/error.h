// Errors: exceptions of the runtime and of the compiler, as the C interface hands them out.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "xpu/error.h"

struct PJRT_Error;

namespace xla_xpu {

/// An error with a PJRT_Error_Code of its own choice.
struct Failure : std::runtime_error {
  Failure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

/// Throws a Failure with the joined parts as its message.
template <class... Parts>
[[noreturn]] void refuse(int code, const Parts&... parts) {
  throw Failure(code, xpu::join(parts...));
}

/// The caller owns what these return.
PJRT_Error* make_error(int code, std::string message);
PJRT_Error* error_of(const std::exception_ptr& exception);
/// To be called while an exception is handled.
PJRT_Error* current_error();

}  // namespace xla_xpu
