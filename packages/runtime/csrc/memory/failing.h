// An adaptor whose k-th allocation fails, for tests.
#pragma once

#include <atomic>

#include "xpu/memory_resource.h"

namespace xpu::memory {

/// Counts allocations down to the one that fails; 0 if none will. Thread-safe; resources may share it.
class XPU_API FailureCounter {
 public:
  void start(std::uint64_t k) { left_ = k; }
  bool running() const { return left_.load(std::memory_order_relaxed) != 0; }
  /// Counts one allocation; returns true if it is the one to fail.
  bool should_fail();

 private:
  std::atomic<std::uint64_t> left_{0};
};

class XPU_API FailingResource final : public Resource {
 public:
  FailingResource(Resource& upstream, FailureCounter& failures) : upstream_(upstream), failures_(failures) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override {
    upstream_.deallocate(ptr, bytes, stream);
  }
  std::size_t release_unused() override { return upstream_.release_unused(); }

 private:
  Resource& upstream_;
  FailureCounter& failures_;
};

}  // namespace xpu::memory
