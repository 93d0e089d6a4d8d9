// Copies between two devices.
#pragma once

#include <cstddef>

#include "xpu/stream.h"

namespace xpu {

/// Enqueues the copy if `dst` and `src` are of different devices and the driver's own copy is broken;
/// otherwise returns false.
bool copy_between_devices(Stream stream, void* dst, const void* src, std::size_t bytes);

}  // namespace xpu
