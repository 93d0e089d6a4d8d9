#include "memory/thread_pools.h"

#include "xpu/error.h"

namespace xpu::memory {
namespace {

// A trivial type: every allocation reads it, and an initialization check would cost time.
struct OpenPool {
  int device;
  PoolId pool;
};
constexpr int capacity = 16;
thread_local int open_count = 0;
thread_local OpenPool open_pools[capacity];

}  // namespace

PoolId thread_pool(int device) {
  for (int i = open_count; i-- > 0;)
    if (open_pools[i].device == device) return open_pools[i].pool;
  return 0;
}

void push_thread_pool(int device, PoolId pool) {
  expect<UsageError>(open_count < capacity, "open_pool: this thread already has ", capacity,
                     " private pools open");
  open_pools[open_count++] = {device, pool};
}

void pop_thread_pool(int device, PoolId pool) {
  for (int i = open_count; i-- > 0;) {
    if (open_pools[i].device != device || open_pools[i].pool != pool) continue;
    for (int j = i + 1; j < open_count; ++j) open_pools[j - 1] = open_pools[j];
    --open_count;
    return;
  }
  fail<UsageError>("close_pool: this thread has not opened private pool ", pool, " on device ", device);
}

}  // namespace xpu::memory
