// Translation of SYCL's exceptions.
#pragma once

#include <sycl/sycl.hpp>
#include <utility>

#include "xpu/error.h"

namespace xpu {

/// Throws the runtime's exception for `e`. `what` says what failed, as in "waiting for a stream".
[[noreturn]] void throw_translated(const sycl::exception& e, std::string_view what);

/// Returns `work()`. Throws UsageError, DeviceError, OutOfMemory or Unsupported, with `what`, for SYCL's
/// exceptions.
template <class F>
decltype(auto) translate_sycl_errors(std::string_view what, F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const sycl::exception& e) {
    throw_translated(e, what);
  }
}

}  // namespace xpu
