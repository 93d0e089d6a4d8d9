// Copies and fills of bytes; strided and converting copies are kernels (xpu/kernels).
//
// All functions are thread-safe. They enqueue work as enqueue() does and throw UsageError for null pointers.
#pragma once

#include <cstddef>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

/// Enqueues a copy between any of device, pinned host and ordinary host memory. Ordinary host memory must
/// stay alive and unchanged until the copy has completed. `dst` and `src` may be of different devices.
XPU_API void copy(Stream stream, void* dst, const void* src, std::size_t bytes);
/// Enqueues a fill with one byte.
XPU_API void fill_bytes(Stream stream, void* dst, int value, std::size_t bytes);
/// Enqueues a fill with a repeated pattern of 1, 2, 4, 8 or 16 bytes.
XPU_API void fill_pattern(Stream stream, void* dst, const void* pattern, std::size_t pattern_bytes,
                          std::size_t count);

}  // namespace xpu
