// The public functions of the device pools.
#include "xpu/memory.h"

#include <atomic>

#include "memory/block.h"
#include "memory/pool.h"
#include "memory/thread_pools.h"
#include "process/startup.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {

void* allocate(std::size_t bytes, Stream stream, Owner owner) {
  startup::require_thread_allowed();
  expect<UsageError>(static_cast<bool>(stream), "allocate: got an empty stream, expected one of a device");
  if (bytes == 0) return nullptr;
  return device_pool(stream.device()).top().allocate(bytes, stream, owner);
}

void deallocate(void* ptr) noexcept {
  // A forked child destroys the parent's objects too, but their memory is the parent's. After shutdown the
  // system frees everything.
  if (!ptr || startup::is_forked_or_shut_down()) return;
  auto& pools = shared();
  bool watched = pools.is_watched();
  Block* block = watched ? pools.index.get(ptr) : pools.index.take(ptr);
  if (!block) [[unlikely]] {
    log(LogLevel::error, join("deallocate: ", ptr,
                              " is not device memory of this process, or it was already freed; "
                              "nothing was done"));
    return;
  }
  if (!watched) return block->segment->resource->free(block);
  Stream stream = block->segment->stream;
  device_pool(stream.device()).top().deallocate(ptr, block->requested, stream);
}

void record_stream(void* ptr, Stream stream) {
  startup::require_thread_allowed();
  expect<UsageError>(static_cast<bool>(stream),
                     "record_stream: got an empty stream, expected one of a device");
  CachingResource* resource = nullptr;
  shared().index.with_segment(ptr, [&](Segment& segment) { resource = segment.resource; });
  if (resource) resource->record_stream(ptr, stream);
}

BlockInfo find(const void* ptr) {
  BlockInfo found;
  shared().index.with_segment(ptr, [&](Segment& segment) { found = segment.resource->find(segment, ptr); });
  return found;
}

Stats stats(int device) {
  auto& pool = device_pool(device).caching();
  Stats result = pool.stats();
  auto owners = pool.owner_stats();
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i].peak) result.owners.push_back({owner_name(static_cast<Owner>(i)), owners[i]});
  return result;
}

void reset_peak_stats(int device) {
  device_pool(device).caching().reset_peak();
}
void reset_accumulated_stats(int device) {
  device_pool(device).caching().reset_accumulated();
}

std::size_t empty_cache(int device) {
  startup::require_thread_allowed();
  return device_pool(device).caching().release_unused();
}

std::size_t set_limit(int device, std::size_t bytes) {
  return device_pool(device).limiting().set_limit(bytes);
}
std::size_t limit(int device) {
  return device_pool(device).limiting().limit();
}

std::vector<SnapshotSegment> snapshot() {
  std::vector<SnapshotSegment> segments;
  for (int device = 0; device < device_count(); ++device)
    if (auto* pool = existing_pool(device)) pool->caching().snapshot(segments);
  return segments;
}

PoolId create_pool(bool splits) {
  static std::atomic<PoolId> last{0};
  return ++last | (splits ? 0 : unsplit_pool);
}

void open_pool(int device, PoolId pool) {
  expect<UsageError>(pool != 0, "open_pool: got pool 0, expected a number from create_pool");
  push_thread_pool(device, pool);
  retain_pool(device, pool);
}
void close_pool(int device, PoolId pool) {
  pop_thread_pool(device, pool);
}
void open_pool(Stream stream, PoolId pool) {
  expect<UsageError>(pool != 0, "open_pool: got pool 0, expected a number from create_pool");
  PoolId none = 0;
  expect<UsageError>(stream.state()->pool.compare_exchange_strong(none, pool), "open_pool: stream ",
                     stream.id(), " already uses private pool ", none);
  retain_pool(stream.device(), pool);
}
void close_pool(Stream stream, PoolId pool) {
  expect<UsageError>(stream.state()->pool.compare_exchange_strong(pool, 0), "close_pool: stream ",
                     stream.id(), " does not use that private pool");
}
void retain_pool(int device, PoolId pool) {
  device_pool(device).caching().retain_pool(pool);
}
void release_pool(int device, PoolId pool, bool give_back) {
  device_pool(device).caching().release_pool(pool, give_back);
}

void set_log(const std::string& path) {
  shared().allocation_log.open(path);
  shared().update_watched();
}

void fail_allocation(std::uint64_t k) {
  shared().failures.start(k);
  shared().update_watched();
}

void set_observer(Observer observer) {
  shared().observer = observer;
  shared().update_watched();
}

}  // namespace xpu::memory
