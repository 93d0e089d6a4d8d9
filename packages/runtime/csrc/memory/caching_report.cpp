// Counters, queries and snapshots of the pool.
#include <algorithm>

#include "memory/caching.h"
#include "memory/counting.h"

namespace xpu::memory {

BlockInfo CachingResource::find(const Segment& segment, const void* ptr) const {
  std::lock_guard lock(mutex_);
  for (const Block* block = segment.first; block; block = block->next) {
    if (static_cast<const char*>(ptr) >= block->ptr + block->size) continue;
    if (block->state != BlockState::allocated) return {};
    return {block->ptr, block->size, block->requested, options_.device, segment.stream, block->owner};
  }
  return {};
}

CachingResource::Totals CachingResource::totals() const {
  std::lock_guard lock(mutex_);
  return {stats_.allocated_bytes[all].current, stats_.reserved_bytes[all].current};
}

std::size_t CachingResource::size_of(const void* ptr) const {
  Block* block = index_.get(ptr);
  return block ? block->size : 0;
}

Stats CachingResource::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

std::vector<Stat> CachingResource::owner_stats() const {
  std::lock_guard lock(mutex_);
  return owners_;
}

std::size_t CachingResource::largest_free() const {
  std::lock_guard lock(mutex_);
  std::size_t largest = 0;
  for (auto& [key, arena] : arenas_)
    largest = std::max({largest, arena->small.largest(), arena->large.largest()});
  return largest;
}

void CachingResource::reset_peak() {
  std::lock_guard lock(mutex_);
  auto reset = [](Stat& stat) { stat.peak = stat.current; };
  for_each_stat(stats_, reset);
  for (Stat& stat : owners_) reset(stat);
}

void CachingResource::reset_accumulated() {
  std::lock_guard lock(mutex_);
  auto reset = [](Stat& stat) { stat.allocated = stat.freed = 0; };
  for_each_stat(stats_, reset);
  for (Stat& stat : owners_) reset(stat);
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_device_alloc = stats_.num_device_free = 0;
}

void CachingResource::snapshot(std::vector<SnapshotSegment>& into) const {
  static constexpr const char* names[] = {"inactive", "active_allocated", "active_pending_free"};
  std::lock_guard lock(mutex_);
  for (const Segment* segment = first_segment_; segment; segment = segment->next) {
    auto& out = into.emplace_back();
    out.device = options_.device;
    out.address = reinterpret_cast<std::uintptr_t>(segment->base);
    out.total_size = segment->size;
    out.stream = segment->stream ? segment->stream.id() : 0;
    out.type = segment->small ? "small" : "large";
    out.pool = segment->arena->pool;
    for (const Block* block = segment->first; block; block = block->next) {
      bool active = block->state != BlockState::free;
      out.blocks.push_back({reinterpret_cast<std::uintptr_t>(block->ptr), block->size, block->requested,
                            names[static_cast<int>(block->state)], active ? owner_name(block->owner) : ""});
      if (block->state == BlockState::allocated) out.allocated_size += block->size;
      if (active) out.active_size += block->size;
      out.requested_size += block->requested;
    }
  }
}

}  // namespace xpu::memory
