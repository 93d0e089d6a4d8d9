// Segments: allocated from upstream, returned to it, moved from a private pool to the common one.
#include "memory/caching.h"
#include "memory/counting.h"
#include "xpu/error.h"
#include "xpu/graph.h"

namespace xpu::memory {

CachingResource::~CachingResource() {
  while (first_segment_) {
    Segment* segment = first_segment_;
    first_segment_ = segment->next;
    for (Block* block = segment->first; block; block = block->next)
      if (block->state == BlockState::allocated) index_.take(block->ptr);
    index_.remove(segment);
    upstream_.deallocate(segment->base, segment->size, segment->stream);
  }
}

Segment* CachingResource::add_segment(void* memory, std::size_t bytes, Stream stream, PoolId pool,
                                      bool small) {
  Segment* segment;
  {
    std::lock_guard lock(mutex_);
    segment = segments_.take();
    Block* block = blocks_.take();
    *segment = {static_cast<char*>(memory),
                bytes,
                small,
                stream,
                &arena(stream, pool),
                this,
                block,
                nullptr,
                first_segment_};
    if (first_segment_) first_segment_->prev = segment;
    first_segment_ = segment;
    block->ptr = segment->base;
    block->size = bytes;
    block->segment = segment;
    block->prev = block->next = nullptr;
    // The block is in no bin, so only the caller can allocate it.
    block->state = BlockState::pending;
    increase(stats_.segment, small, 1);
    increase(stats_.reserved_bytes, small, bytes);
    ++stats_.num_device_alloc;
  }
  index_.add(segment);
  return segment;
}

void CachingResource::detach(Segment* segment) {
  segment->bins().remove(segment->first);
  (segment->prev ? segment->prev->next : first_segment_) = segment->next;
  if (segment->next) segment->next->prev = segment->prev;
}

void CachingResource::return_upstream(Segment* segment) noexcept {
  index_.remove(segment);
  upstream_.deallocate(segment->base, segment->size, segment->stream);
  std::lock_guard lock(mutex_);
  decrease(stats_.segment, segment->small, 1);
  decrease(stats_.reserved_bytes, segment->small, segment->size);
  ++stats_.num_device_free;
  blocks_.give(segment->first);
  segments_.give(segment);
}

void CachingResource::return_detached() noexcept {
  std::vector<Segment*> detached;
  {
    std::lock_guard lock(mutex_);
    detached.swap(detached_);
  }
  for (Segment* segment : detached) return_upstream(segment);
}

std::size_t CachingResource::release_unused() {
  std::lock_guard growing(grow_mutex_);
  return release_locked();
}

// Removes the segments from the lists first, so that no thread allocates from them while upstream waits for
// the work that used them.
std::size_t CachingResource::release_locked() {
  drain();
  std::vector<Segment*> unused;
  {
    std::lock_guard lock(mutex_);
    for (Segment *segment = first_segment_, *next; segment; segment = next) {
      next = segment->next;
      Stream stream = segment->stream;
      if (segment->arena->pool != 0 || !segment->is_unused() || (stream && is_capturing(stream))) continue;
      detach(segment);
      unused.push_back(segment);
    }
  }
  std::size_t bytes = 0;
  for (Segment* segment : unused) {
    bytes += segment->size;
    return_upstream(segment);
  }
  return bytes + upstream_.release_unused();
}

void CachingResource::retain_pool(PoolId pool) {
  std::lock_guard lock(mutex_);
  ++pool_uses_[pool];
}

void CachingResource::release_pool(PoolId pool, bool give_back) {
  std::vector<Segment*> unused;
  {
    std::lock_guard lock(mutex_);
    auto uses = pool_uses_.find(pool);
    expect<UsageError>(uses != pool_uses_.end(), "release_pool: private pool ", pool,
                       " is not in use on device ", options_.device);
    if (--uses->second > 0) return;
    pool_uses_.erase(uses);
    for (Segment *segment = first_segment_, *next; segment; segment = next) {
      next = segment->next;
      if (segment->arena->pool != pool) continue;
      Arena& common = arena(segment->stream, 0);
      for (Block* block = segment->first; block; block = block->next)
        if (block->state == BlockState::free) segment->bins().remove(block);
      segment->arena = &common;
      for (Block* block = segment->first; block; block = block->next)
        if (block->state == BlockState::free) segment->bins().insert(block);
      if ((options_.keep_segments && !give_back) || !segment->is_unused()) continue;
      if (segment->stream && is_capturing(segment->stream)) continue;
      detach(segment);
      unused.push_back(segment);
    }
    last_arena_ = nullptr;
    std::erase_if(arenas_, [&](auto& entry) { return entry.first.pool == pool; });
  }
  for (Segment* segment : unused) return_upstream(segment);
}

}  // namespace xpu::memory
