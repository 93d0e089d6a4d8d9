// An adaptor whose k-th allocation fails, for tests.
#pragma once

#include <atomic>

#include "xpu/memory_resource.h"

namespace xpu::memory {

/// How many allocations are left until one fails, that one included; 0 when none will. Resources may share
/// it.
class XPU_API Countdown {
 public:
  void start(std::uint64_t k) { left_ = k; }
  bool running() const { return left_.load(std::memory_order_relaxed) != 0; }
  /// Counts one allocation; true when it is the one to fail.
  bool strike();

 private:
  std::atomic<std::uint64_t> left_{0};
};

class XPU_API FailingResource final : public Resource {
 public:
  FailingResource(Resource& upstream, Countdown& countdown) : upstream_(upstream), countdown_(countdown) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override {
    upstream_.deallocate(ptr, bytes, stream);
  }
  std::size_t release_unused() override { return upstream_.release_unused(); }

 private:
  Resource& upstream_;
  Countdown& countdown_;
};

}  // namespace xpu::memory
