// SYCL's exceptions as ours.
#pragma once

#include <sycl/sycl.hpp>
#include <utility>

#include "xpu/error.h"

namespace xpu {

/// Throws the typed error for `e`, which happened while `what`.
[[noreturn]] void throw_translated(const sycl::exception& e, std::string_view what);

/// Runs `work`; what SYCL throws comes out as DeviceError, OutOfMemory or Unsupported, naming `what`.
template <class F>
decltype(auto) translate_sycl_errors(std::string_view what, F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const sycl::exception& e) {
    throw_translated(e, what);
  }
}

}  // namespace xpu
