#include "memory/limiting.h"

#include "memory/units.h"
#include "xpu/error.h"

namespace xpu::memory {

void* LimitingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  std::size_t limit = limit_, used = used_;
  do {
    expect<OutOfMemory>(limit == 0 || (used <= limit && bytes <= limit - used), format_bytes(bytes),
                        " more would exceed the limit of ", format_bytes(limit), "; ", format_bytes(used),
                        " are reserved");
  } while (!used_.compare_exchange_weak(used, used + bytes));
  try {
    return upstream_.allocate(bytes, stream, owner);
  } catch (...) {
    used_ -= bytes;
    throw;
  }
}

void LimitingResource::deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept {
  upstream_.deallocate(ptr, bytes, stream);
  used_ -= bytes;
}

}  // namespace xpu::memory
