// Streams by the ids that PyTorch keeps: 0 is a device's default stream, other ids are handles.
#pragma once

#include "xpu/stream.h"

namespace torch_xpu {

/// Throws xpu::UsageError if the device has no such stream.
inline xpu::Stream stream_of_id(int device, std::int64_t id) {
  return id == 0 ? xpu::default_stream(device)
                 : xpu::stream_of_handle(device, static_cast<std::uintptr_t>(id));
}

inline std::int64_t id_of_stream(xpu::Stream stream) {
  return stream.id() == 0 ? 0 : static_cast<std::int64_t>(stream.handle());
}

}  // namespace torch_xpu
