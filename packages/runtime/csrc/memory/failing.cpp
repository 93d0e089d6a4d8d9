#include "memory/failing.h"

#include "memory/units.h"
#include "xpu/error.h"

namespace xpu::memory {

bool FailureCounter::should_fail() {
  auto left = left_.load();
  while (left != 0)
    if (left_.compare_exchange_weak(left, left - 1)) return left == 1;
  return false;
}

void* FailingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  expect<OutOfMemory>(!failures_.should_fail(), "this allocation of ", format_bytes(bytes),
                      " failed because memory.fail_allocation asked for it");
  return upstream_.allocate(bytes, stream, owner);
}

}  // namespace xpu::memory
