#include "device/memory.h"

#include <c10/core/Allocator.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "device/history.h"
#include "xpu/error.h"
#include "xpu/memory.h"

namespace torch_xpu {
namespace {

// For torch.profiler with profile_memory: what happened, and the totals after it.
void report(void* ptr, std::int64_t bytes, int device) {
  auto stats = xpu::memory::stats(device);
  c10::reportMemoryUsageToProfiler(ptr, bytes, static_cast<std::size_t>(stats.allocated_bytes[0].current),
                                   static_cast<std::size_t>(stats.reserved_bytes[0].current),
                                   {c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device)});
}

// For the same, and for the history.
void report_failure(std::size_t bytes, xpu::Stream stream) {
  int device = stream.device();
  history::note_out_of_memory(bytes, device, stream.id());
  if (!c10::memoryProfilingEnabled()) return;
  auto stats = xpu::memory::stats(device);
  c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes),
                                   static_cast<std::size_t>(stats.allocated_bytes[0].current),
                                   static_cast<std::size_t>(stats.reserved_bytes[0].current),
                                   {c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device)});
}

struct OomPools {
  std::mutex mutex;
  std::vector<xpu::memory::PoolId> all;
};
OomPools& oom_pools() {
  static auto* one = new OomPools;
  return *one;
}

// Scope in which allocations come from a pool.
class InPool {
 public:
  InPool(int device, xpu::memory::PoolId pool) : device_(device), pool_(pool) {
    xpu::memory::open_pool(device, pool);
  }
  ~InPool() {
    xpu::memory::close_pool(device_, pool_);
    xpu::memory::release_pool(device_, pool_);
  }
  InPool(const InPool&) = delete;
  InPool& operator=(const InPool&) = delete;

 private:
  int device_;
  xpu::memory::PoolId pool_;
};

// The message has CUDA's words, for which users and libraries look.
std::string out_of_memory(std::size_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
  auto amount = static_cast<double>(bytes);
  int unit = 0;
  for (; unit < 3 && amount >= 1024; ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.2f" : "%.0f", amount);
  return xpu::join("XPU out of memory. Tried to allocate ", text, " ", units[unit], ".");
}

// Returns null if no pool has room.
void* allocate_from_oom_pools(std::size_t bytes, xpu::Stream stream, xpu::memory::Owner owner) {
  std::vector<xpu::memory::PoolId> pools;
  {
    std::lock_guard lock(oom_pools().mutex);
    pools = oom_pools().all;
  }
  for (auto pool : pools) {
    InPool open(stream.device(), pool);
    try {
      return xpu::memory::allocate(bytes, stream, owner);
    } catch (const xpu::OutOfMemory&) {
      continue;  // the next one may have room
    }
  }
  return nullptr;
}

}  // namespace

void set_use_on_oom(std::uint64_t pool, bool enabled) {
  std::lock_guard lock(oom_pools().mutex);
  std::erase(oom_pools().all, pool);
  if (enabled) oom_pools().all.push_back(pool);
}

void* allocate_block(std::size_t bytes, xpu::Stream stream) {
  static const auto owner = xpu::memory::owner("torch");
  void* ptr = nullptr;
  try {
    ptr = xpu::memory::allocate(bytes, stream, owner);
  } catch (const xpu::OutOfMemory& e) {
    ptr = allocate_from_oom_pools(bytes, stream, owner);
    if (!ptr) {
      report_failure(bytes, stream);
      xpu::fail<xpu::OutOfMemory>(out_of_memory(bytes), "\n", e.what());
    }
  }
  if (c10::memoryProfilingEnabled()) [[unlikely]]
    report(ptr, static_cast<std::int64_t>(xpu::memory::find(ptr).size), stream.device());
  return ptr;
}

void deallocate_block(void* ptr) noexcept {
  if (!c10::memoryProfilingEnabled()) [[likely]]
    return xpu::memory::deallocate(ptr);
  auto block = xpu::memory::find(ptr);
  xpu::memory::deallocate(ptr);
  if (block.base) report(ptr, -static_cast<std::int64_t>(block.size), block.device);
}

}  // namespace torch_xpu
