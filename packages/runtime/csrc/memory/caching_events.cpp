// Blocks that were freed while streams other than their own still use them.
#include "memory/caching.h"
#include "memory/noexcept_wait.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/log.h"

namespace xpu::memory {

void CachingResource::record_stream(void* ptr, Stream stream) {
  auto add = [&](Block& block) {
    if (block.state != BlockState::allocated || block.segment->stream == stream) return;
    for (Stream used : block.uses)
      if (used == stream) return;
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

void CachingResource::record_uses(Block* block, std::vector<Stream> uses) noexcept {
  for (Stream stream : uses) {
    if (record_use(block, stream)) continue;
    std::lock_guard lock(mutex_);
    deferred_.emplace_back(block, stream);
  }
}

// Returns false if no event can be recorded now; the next allocation that misses the cache tries again.
bool CachingResource::record_use(Block* block, Stream stream) noexcept {
  if (is_capturing(stream)) return false;
  try {
    Event event;
    event.record(stream);
    std::lock_guard lock(mutex_);
    for (PendingQueue& queue : pending_queues_) {
      if (queue.stream != stream) continue;
      queue.uses.push_back({std::move(event), block});
      return true;
    }
    pending_queues_.push_back({stream, {}});
    pending_queues_.back().uses.push_back({std::move(event), block});
    return true;
  } catch (const std::exception& e) {
    log(LogLevel::warning,
        join("a freed block stays reserved: no event could be recorded on a stream that uses it: ",
             e.what()));
    return false;
  }
}

void CachingResource::poll() {
  for (PendingQueue& queue : pending_queues_) {
    while (!queue.uses.empty() && queue.uses.front().event.query()) {
      Block* block = queue.uses.front().block;
      queue.uses.pop_front();
      complete_use(block);
    }
  }
}

void CachingResource::record_deferred() {
  std::vector<std::pair<Block*, Stream>> deferred;
  {
    std::lock_guard lock(mutex_);
    deferred.swap(deferred_);
  }
  for (auto [block, stream] : deferred) record_uses(block, {stream});
}

void CachingResource::drain() {
  record_deferred();
  std::vector<PendingUse> pending_uses;
  {
    std::lock_guard lock(mutex_);
    for (PendingQueue& queue : pending_queues_) {
      for (PendingUse& use : queue.uses) pending_uses.push_back(std::move(use));
      queue.uses.clear();
    }
  }
  for (PendingUse& use : pending_uses) wait_noexcept(use.event);
  {
    std::lock_guard lock(mutex_);
    for (PendingUse& use : pending_uses) complete_use(use.block);
  }
  return_detached();
}

void CachingResource::complete_use(Block* block) {
  if (--block->pending_uses != 0) return;
  --pending_;
  if (Segment* unused = give_back(block)) detached_.push_back(unused);
}

}  // namespace xpu::memory
