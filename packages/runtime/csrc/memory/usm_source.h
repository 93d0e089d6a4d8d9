// Memory allocated by the driver, without a pool.
#pragma once

#include "xpu/memory_resource.h"

namespace xpu::memory {

class XPU_API DeviceSource final : public Resource {
 public:
  explicit DeviceSource(int device);
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  /// Blocks until the work of `stream` has completed, since drivers do not wait for it.
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;

 private:
  int device_;
};

/// Pinned host memory in the context of the first device. Streams may be empty.
class XPU_API HostSource final : public Resource {
 public:
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
};

}  // namespace xpu::memory
