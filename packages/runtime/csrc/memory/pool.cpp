#include "memory/pool.h"

#include <mutex>
#include <sstream>
#include <vector>

#include "memory/strict/source.h"
#include "memory/strict/strict.h"
#include "memory/units.h"
#include "memory/usm_source.h"
#include "process/env.h"
#include "process/immortal.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::memory {
namespace {

std::unique_ptr<Resource> make_source(int device) {
  if (strict::enabled()) return std::make_unique<strict::StrictSource>(device);
  return std::make_unique<DeviceSource>(device);
}

struct Pools {
  SharedState& shared = memory::shared();
  std::mutex mutex;
  std::vector<std::atomic<DevicePool*>> all =
      std::vector<std::atomic<DevicePool*>>(static_cast<std::size_t>(device_count()));

  // Freeing needs the streams, so they are created before the pools and destroyed after them.
  Pools() {
    for (int device = 0; device < device_count(); ++device) all_streams(device);
  }
  ~Pools() {
    for (auto& pool : all) delete pool.load();
  }
};
Pools& pools() {
  static auto& one = immortal<Pools>();
  return one;
}

}  // namespace

SharedState& shared() {
  static auto& one = immortal<SharedState>();
  return one;
}

DevicePool::DevicePool(int device, SharedState& shared)
    : shared_(shared),
      source_(make_source(device)),
      statistics_(*source_),
      limiting_(statistics_, env::number("XPU_MEMORY_LIMIT", 0)),
      caching_(limiting_, shared.index,
               {device, device_info(device).max_allocation, !strict::enabled(),
                [this](auto... figures) { return explain(figures...); }}),
      notifying_(caching_, shared.observer),
      logging_(notifying_, shared.allocation_log),
      failing_(logging_, shared.failures) {}

std::string DevicePool::explain(std::size_t bytes, Stream stream, Owner owner, const std::string& reason) {
  int device = caching_.options().device;
  auto info = memory_info(device);
  auto totals = caching_.totals();
  auto owners = caching_.owner_stats();
  std::ostringstream text;
  text << "out of memory on device " << device << " (" << device_info(device).name << ")"
       << "\n  asked: " << format_bytes(bytes) << " for " << owner_name(owner) << " on stream " << stream.id()
       << "\n  why: " << reason << "\n  free on the device: " << format_bytes(info.free) << " of "
       << format_bytes(info.total)
       << "\n  reserved by the pool: " << format_bytes(static_cast<std::uint64_t>(totals.reserved))
       << "\n  allocated: " << format_bytes(static_cast<std::uint64_t>(totals.allocated));
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i].current)
      text << "\n    by " << owner_name(static_cast<Owner>(i)) << ": "
           << format_bytes(static_cast<std::uint64_t>(owners[i].current));
  text << "\n  largest free block: " << format_bytes(caching_.largest_free()) << "\n  limit: ";
  std::size_t limit = limiting_.limit();
  limit ? text << format_bytes(limit) : text << "none";
  text
      << "\n  The allocation was retried after the unused cache was released. Free arrays that are no longer "
         "needed, allocate less at once, or raise the limit with xpu_runtime.memory.set_limit or "
         "XPU_MEMORY_LIMIT; xpu_runtime.memory.empty_cache() releases unused memory to other processes";
  return text.str();
}

DevicePool& device_pool(int device) {
  auto& table = pools();
  if (device < 0 || static_cast<std::size_t>(device) >= table.all.size()) [[unlikely]]
    device_info(device);  // throws
  auto& slot = table.all[static_cast<std::size_t>(device)];
  if (auto* pool = slot.load(std::memory_order_acquire)) [[likely]]
    return *pool;
  std::lock_guard lock(table.mutex);
  if (!slot.load()) slot = new DevicePool(device, table.shared);
  return *slot.load();
}

DevicePool* existing_pool(int device) {
  auto& table = pools();
  return device < 0 || static_cast<std::size_t>(device) >= table.all.size()
             ? nullptr
             : table.all[static_cast<std::size_t>(device)].load();
}

}  // namespace xpu::memory
