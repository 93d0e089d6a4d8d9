#include "memory/statistics.h"

namespace xpu::memory {

void* StatisticsResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  void* ptr = upstream_.allocate(bytes, stream, owner);
  std::lock_guard lock(mutex_);
  counts_.allocations.increase(1);
  counts_.bytes.increase(static_cast<std::int64_t>(bytes));
  return ptr;
}

void StatisticsResource::deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept {
  upstream_.deallocate(ptr, bytes, stream);
  std::lock_guard lock(mutex_);
  counts_.allocations.decrease(1);
  counts_.bytes.decrease(static_cast<std::int64_t>(bytes));
}

StatisticsResource::Counts StatisticsResource::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace xpu::memory
