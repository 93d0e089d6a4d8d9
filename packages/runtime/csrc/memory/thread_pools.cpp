#include "memory/thread_pools.h"

#include "xpu/error.h"

namespace xpu::memory {
namespace {

// Trivial, so that reading it needs no initialisation check: every allocation does.
struct Open {
  int device;
  PoolId pool;
};
constexpr int capacity = 16;
thread_local int open_count = 0;
thread_local Open open[capacity];

}  // namespace

PoolId thread_pool(int device) {
  for (int i = open_count; i-- > 0;)
    if (open[i].device == device) return open[i].pool;
  return 0;
}

void push_thread_pool(int device, PoolId pool) {
  expect<UsageError>(open_count < capacity, "open_pool: this thread already has ", capacity,
                     " private pools open");
  open[open_count++] = {device, pool};
}

void pop_thread_pool(int device, PoolId pool) {
  for (int i = open_count; i-- > 0;) {
    if (open[i].device != device || open[i].pool != pool) continue;
    for (int j = i + 1; j < open_count; ++j) open[j - 1] = open[j];
    --open_count;
    return;
  }
  fail<UsageError>("close_pool: this thread has not opened private pool ", pool, " on device ", device);
}

}  // namespace xpu::memory
