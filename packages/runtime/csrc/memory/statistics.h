// An adaptor that counts the allocations and bytes that it passes on. Thread-safe.
#pragma once

#include <mutex>

#include "xpu/memory.h"

namespace xpu::memory {

class XPU_API StatisticsResource final : public Resource {
 public:
  explicit StatisticsResource(Resource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
  std::size_t release_unused() override { return upstream_.release_unused(); }

  struct Counts {
    Stat allocations, bytes;
  };
  Counts counts() const;

 private:
  Resource& upstream_;
  mutable std::mutex mutex_;
  Counts counts_;
};

}  // namespace xpu::memory
