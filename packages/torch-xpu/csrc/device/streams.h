// Streams by the numbers that PyTorch keeps.
#pragma once

#include "xpu/stream.h"

namespace torch_xpu {

/// Number 0 is the device's default stream.
inline xpu::Stream stream_numbered(int device, std::int64_t number) {
  return number == 0 ? xpu::default_stream(device) : xpu::stream_of_id(device, number);
}

}  // namespace torch_xpu
