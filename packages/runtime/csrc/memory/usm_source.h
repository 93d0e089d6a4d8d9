// Memory straight from the driver.
#pragma once

#include "xpu/memory_resource.h"

namespace xpu::memory {

class XPU_API DeviceSource final : public Resource {
 public:
  explicit DeviceSource(int device);
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  /// Waits for `stream` first: drivers do not.
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;

 private:
  int device_;
};

/// Pinned host memory, of the context of the first device. Streams may be empty.
class XPU_API HostSource final : public Resource {
 public:
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
};

}  // namespace xpu::memory
