// Copies between the memories of two devices.
#pragma once

#include <cstddef>

#include "xpu/stream.h"

namespace xpu {

/// Makes the copy when `dst` and `src` belong to different devices and the driver cannot be trusted with it;
/// false otherwise.
bool copy_between_devices(Stream stream, void* dst, const void* src, std::size_t bytes);

}  // namespace xpu
