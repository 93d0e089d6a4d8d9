// Device memory from the strict range.
#pragma once

#include <atomic>

#include "xpu/memory_resource.h"

namespace xpu::strict {

class XPU_API StrictSource final : public memory::Resource {
 public:
  /// Throws Unsupported for a device that cannot use memory of the operating system.
  explicit StrictSource(int device);
  void* allocate(std::size_t bytes, Stream stream, memory::Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;

 private:
  int device_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace xpu::strict
