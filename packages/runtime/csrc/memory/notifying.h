// An adaptor that reports allocations and frees to the observer and the trace.
#pragma once

#include <atomic>

#include "memory/caching.h"

namespace xpu::memory {

class XPU_API NotifyingResource final : public Resource {
 public:
  NotifyingResource(CachingResource& pool, std::atomic<Observer>& observer)
      : pool_(pool), observer_(observer) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
  std::size_t release_unused() override { return pool_.release_unused(); }

 private:
  void notify(bool allocated, void* ptr, std::size_t bytes, Stream stream,
              CachingResource::Totals totals) const;

  CachingResource& pool_;
  std::atomic<Observer>& observer_;
};

}  // namespace xpu::memory
