// An adaptor that throws OutOfMemory for allocations over a limit.
#pragma once

#include <atomic>

#include "xpu/memory_resource.h"

namespace xpu::memory {

class XPU_API LimitingResource final : public Resource {
 public:
  /// 0 means no limit.
  LimitingResource(Resource& upstream, std::size_t limit) : upstream_(upstream), limit_(limit) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
  std::size_t release_unused() override { return upstream_.release_unused(); }

  /// Returns the previous limit. Memory over a new limit stays allocated until it is freed.
  std::size_t set_limit(std::size_t bytes) { return limit_.exchange(bytes); }
  std::size_t limit() const { return limit_; }

 private:
  Resource& upstream_;
  std::atomic<std::size_t> limit_, used_{0};
};

}  // namespace xpu::memory
