#include "memory/failing.h"

#include "memory/units.h"
#include "xpu/error.h"

namespace xpu::memory {

bool Countdown::strike() {
  auto left = left_.load();
  while (left != 0)
    if (left_.compare_exchange_weak(left, left - 1)) return left == 1;
  return false;
}

void* FailingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  expect<OutOfMemory>(!countdown_.strike(), "this allocation of ", human(bytes),
                      " failed because memory.fail_allocation asked for it");
  return upstream_.allocate(bytes, stream, owner);
}

}  // namespace xpu::memory
