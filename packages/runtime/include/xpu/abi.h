// ABI number: identifies the public headers that a library was built with.
//
// Raised by one whenever a public header changes in a way that a compiled adapter would notice.
// An adapter calls `xpu::require_abi(XPU_RUNTIME_ABI)` once when it is loaded.
#pragma once

#define XPU_RUNTIME_ABI 1
#define XPU_API __attribute__((visibility("default")))

namespace xpu {

/// The ABI number the loaded runtime was built with.
XPU_API int abi();

/// Throws UsageError, naming both numbers, if the caller was built with another ABI number.
XPU_API void require_abi(int built_with, const char* who);

}  // namespace xpu
