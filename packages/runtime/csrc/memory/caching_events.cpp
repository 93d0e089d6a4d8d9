// Blocks that were freed while streams other than their own still use them.
#include "memory/caching.h"
#include "memory/waiting.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/log.h"

namespace xpu::memory {

void CachingResource::record_stream(void* ptr, Stream stream) {
  auto add = [&](Block& block) {
    if (block.state != BlockState::allocated || block.segment->stream == stream) return;
    for (Stream known : block.uses)
      if (known == stream) return;
    block.uses.push_back(stream);
  };
  if (Block* block = index_.get(ptr)) {
    std::lock_guard lock(mutex_);
    return add(*block);
  }
  index_.with_segment(ptr, [&](Segment& segment) {
    std::lock_guard lock(mutex_);
    Block* block = segment.first;
    while (block->next && block->next->ptr <= static_cast<char*>(ptr)) block = block->next;
    add(*block);
  });
}

void CachingResource::wait_for_uses(Block* block, std::vector<Stream> uses) noexcept {
  for (Stream stream : uses) {
    if (note_use(block, stream)) continue;
    std::lock_guard lock(mutex_);
    deferred_.emplace_back(block, stream);
  }
}

// False when no event can be taken now: the next allocation that misses the cache tries again.
bool CachingResource::note_use(Block* block, Stream stream) noexcept {
  if (is_capturing(stream)) return false;
  try {
    Event event;
    event.record(stream);
    std::lock_guard lock(mutex_);
    for (Lane& lane : lanes_) {
      if (lane.stream != stream) continue;
      lane.waiting.push_back({std::move(event), block});
      return true;
    }
    lanes_.push_back({stream, {}});
    lanes_.back().waiting.push_back({std::move(event), block});
    return true;
  } catch (const std::exception& e) {
    log(LogLevel::warning,
        join("a freed block stays reserved: no event could be taken on a stream that uses it: ", e.what()));
    return false;
  }
}

void CachingResource::poll() {
  for (Lane& lane : lanes_) {
    while (!lane.waiting.empty() && lane.waiting.front().event.query()) {
      Block* block = lane.waiting.front().block;
      lane.waiting.pop_front();
      reached(block);
    }
  }
}

void CachingResource::record_deferred() {
  std::vector<std::pair<Block*, Stream>> deferred;
  {
    std::lock_guard lock(mutex_);
    deferred.swap(deferred_);
  }
  for (auto [block, stream] : deferred) wait_for_uses(block, {stream});
}

void CachingResource::drain() {
  record_deferred();
  std::vector<Pending> waiting;
  {
    std::lock_guard lock(mutex_);
    for (Lane& lane : lanes_) {
      for (Pending& pending : lane.waiting) waiting.push_back(std::move(pending));
      lane.waiting.clear();
    }
  }
  for (Pending& pending : waiting) wait_for_end(pending.event);
  {
    std::lock_guard lock(mutex_);
    for (Pending& pending : waiting) reached(pending.block);
  }
  return_dead();
}

void CachingResource::reached(Block* block) {
  if (--block->waits != 0) return;
  --pending_;
  if (Segment* unused = give_back(block)) dead_.push_back(unused);
}

}  // namespace xpu::memory
