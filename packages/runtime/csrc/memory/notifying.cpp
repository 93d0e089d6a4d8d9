#include "memory/notifying.h"

#include "trace/recorder.h"

namespace xpu::memory {

void NotifyingResource::notify(bool allocated, void* ptr, std::size_t bytes, Stream stream,
                               CachingResource::Totals totals) const {
  auto change = static_cast<std::int64_t>(bytes);
  if (Observer observer = observer_.load(std::memory_order_acquire))
    observer(ptr, allocated ? change : -change, pool_.options().device, totals.allocated, totals.reserved);
  if (trace::active())
    trace::record_memory(allocated, bytes, pool_.options().device, stream.id(),
                         static_cast<std::uint64_t>(totals.allocated));
}

void* NotifyingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  void* ptr = pool_.allocate(bytes, stream, owner);
  notify(true, ptr, pool_.size_of(ptr), stream, pool_.totals());
  return ptr;
}

// Notifies before the free, while no other thread can get the address, with the totals after it.
void NotifyingResource::deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept {
  std::size_t size = pool_.size_of(ptr);
  auto totals = pool_.totals();
  totals.allocated -= static_cast<std::int64_t>(size);
  if (size) notify(false, ptr, size, stream, totals);
  pool_.deallocate(ptr, bytes, stream);
}

}  // namespace xpu::memory
