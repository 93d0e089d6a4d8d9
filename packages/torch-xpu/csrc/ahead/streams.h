// Streams as the C functions take them.
#pragma once

#include "xpu/device.h"
#include "xpu/stream.h"

namespace torch_xpu {

/// The stream at the address, or the calling thread's current one of `device` for null. Throws
/// xpu::UsageError if there is none.
inline xpu::Stream stream_at(void* address, int device) {
  return address ? xpu::stream_of_handle(reinterpret_cast<std::uintptr_t>(address))
                 : xpu::current_stream(device);
}
/// The stream of any device at the address, or the current one of the current device for null.
inline xpu::Stream stream_at(void* address) {
  return address ? xpu::stream_of_handle(reinterpret_cast<std::uintptr_t>(address))
                 : xpu::current_stream(xpu::current_device());
}

}  // namespace torch_xpu
