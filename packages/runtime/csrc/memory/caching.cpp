#include "memory/caching.h"

#include <algorithm>

#include "memory/counting.h"
#include "memory/thread_pools.h"
#include "streams/stream_state.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {
namespace {

constexpr std::size_t mega = std::size_t{1} << 20;
constexpr std::size_t small_limit = mega;         // larger blocks come from segments for large ones
constexpr std::size_t small_segment = 2 * mega;   // for blocks up to small_limit
constexpr std::size_t large_segment = 20 * mega;  // for blocks up to shared_limit
constexpr std::size_t shared_limit = 10 * mega;   // larger blocks get segments of their own
constexpr std::size_t own_rounding = 2 * mega;    // whose sizes are multiples of this

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

CachingResource::CachingResource(Resource& upstream, AddressIndex& index, Options options)
    : upstream_(upstream), index_(index), options_(std::move(options)), owners_(256) {}

std::size_t CachingResource::round_size(std::size_t bytes) const {
  return options_.keep_segments ? round_up(bytes, Bins::unit) : bytes;
}

std::size_t CachingResource::segment_size(std::size_t size) const {
  if (!options_.keep_segments) return size;
  std::size_t wanted = size <= small_limit   ? small_segment
                       : size < shared_limit ? large_segment
                                             : round_up(size, own_rounding);
  bool too_large = options_.max_allocation && wanted > options_.max_allocation;
  return too_large ? size : wanted;
}

Arena& CachingResource::arena(Stream stream, PoolId pool) {
  if (last_arena_ && last_arena_->stream == stream && last_arena_->pool == pool) [[likely]]
    return *last_arena_;
  auto& slot = arenas_[{stream.state(), pool}];
  if (!slot) {
    slot = std::make_unique<Arena>();
    slot->stream = stream;
    slot->pool = pool;
  }
  return *(last_arena_ = slot.get());
}

void* CachingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  if (options_.max_allocation && bytes > options_.max_allocation) [[unlikely]]
    fail_allocation(bytes, stream, owner,
                    join("the largest allocation of this device is ", options_.max_allocation, " bytes"));
  expect<OutOfMemory>(bytes <= ~std::size_t{0} / 2, "an allocation of ", bytes,
                      " bytes is larger than any address space");
  const std::size_t size = round_size(bytes);
  // Pinned host memory has no stream.
  const PoolId of_stream = stream ? stream.state()->pool.load(std::memory_order_relaxed) : 0;
  const PoolId pool = of_stream ? of_stream : thread_pool(options_.device);
  Block* block;
  {
    std::lock_guard lock(mutex_);
    if (pending_) [[unlikely]]
      poll();
    block = take_cached(stream, pool, size);
    if (block) give_out(block, size, bytes, owner);
  }
  if (!block) [[unlikely]]
    block = grow(bytes, size, stream, pool, owner);
  index_.put(block->ptr, block);
  return block->ptr;
}

Block* CachingResource::take_cached(Stream stream, PoolId pool, std::size_t size) {
  auto& from = arena(stream, pool);
  return (size <= small_limit ? from.small : from.large).take(size);
}

Block* CachingResource::give_out(Block* block, std::size_t size, std::size_t requested, Owner owner) {
  Segment& segment = *block->segment;
  const bool small = segment.small, was_split = block->is_split();
  const std::size_t rest = block->size - size;
  const bool splits = options_.keep_segments && !(segment.arena->pool & unsplit_pool);
  if (splits && (small ? rest >= Bins::unit : rest > small_limit)) {
    Block* tail = blocks_.take();
    tail->ptr = block->ptr + size;
    tail->size = rest;
    tail->requested = 0;
    tail->segment = &segment;
    tail->state = BlockState::free;
    tail->prev = block;
    tail->next = block->next;
    if (block->next) block->next->prev = tail;
    block->next = tail;
    block->size = size;
    segment.bins().insert(tail);
    if (was_split) {
      decrease(stats_.inactive_split_bytes, small, size);
    } else {
      increase(stats_.inactive_split_bytes, small, rest);
      increase(stats_.inactive_split, small, 1);
    }
  } else if (was_split) {
    decrease(stats_.inactive_split_bytes, small, block->size);
    decrease(stats_.inactive_split, small, 1);
  }
  block->state = BlockState::allocated;
  block->requested = requested;
  block->owner = owner;
  increase(stats_.allocation, small, 1);
  increase(stats_.active, small, 1);
  increase(stats_.allocated_bytes, small, block->size);
  increase(stats_.active_bytes, small, block->size);
  increase(stats_.requested_bytes, small, requested);
  owners_[owner].increase(static_cast<std::int64_t>(block->size));
  return block;
}

Block* CachingResource::grow(std::size_t bytes, std::size_t size, Stream stream, PoolId pool, Owner owner) {
  std::lock_guard growing(grow_mutex_);
  record_deferred();
  auto cached = [&]() -> Block* {
    std::lock_guard lock(mutex_);
    poll();
    Block* block = take_cached(stream, pool, size);
    return block ? give_out(block, size, bytes, owner) : nullptr;
  };
  // While this thread waited for the lock, another may have freed or added enough memory.
  if (Block* block = cached()) return block;
  if (!options_.keep_segments) return_detached();

  std::string reason;
  auto ask = [&](std::size_t segment_bytes) -> void* {
    try {
      return upstream_.allocate(segment_bytes, stream, owner);
    } catch (const OutOfMemory& e) {
      reason = e.what();
      return nullptr;
    }
  };
  const bool small = size <= small_limit;
  std::size_t segment_bytes = segment_size(size);
  void* memory = ask(segment_bytes);
  if (!memory) {
    {
      std::lock_guard lock(mutex_);
      ++stats_.num_alloc_retries;
    }
    drain();
    if (Block* block = cached()) return block;
    release_locked();
    if (options_.keep_segments && !small)
      segment_bytes = std::min(segment_bytes, round_up(size, own_rounding));
    memory = ask(segment_bytes);
  }
  if (!memory) fail_allocation(bytes, stream, owner, reason);
  Segment* segment;
  try {
    segment = add_segment(memory, segment_bytes, stream, pool, small);
  } catch (...) {
    upstream_.deallocate(memory, segment_bytes, stream);
    throw;
  }
  std::lock_guard lock(mutex_);
  return give_out(segment->first, size, bytes, owner);
}

void CachingResource::fail_allocation(std::size_t bytes, Stream stream, Owner owner,
                                      const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    ++stats_.num_ooms;
  }
  throw OutOfMemory(options_.explain ? options_.explain(bytes, stream, owner, reason) : reason);
}

void CachingResource::deallocate(void* ptr, std::size_t bytes, Stream) noexcept {
  Block* block = index_.take(ptr);
  if (!block || block->segment->resource != this) [[unlikely]] {
    if (block) index_.put(ptr, block);
    log(LogLevel::error, join("deallocate: ", ptr, " (", bytes,
                              " bytes) is not memory of this pool, or it was already freed; "
                              "nothing was done"));
    return;
  }
  free(block);
}

void CachingResource::free(Block* block) noexcept {
  std::vector<Stream> uses;
  Segment* unused = nullptr;
  {
    std::lock_guard lock(mutex_);
    const bool small = block->segment->small;
    decrease(stats_.allocation, small, 1);
    decrease(stats_.allocated_bytes, small, block->size);
    owners_[block->owner].decrease(static_cast<std::int64_t>(block->size));
    if (block->uses.empty()) [[likely]] {
      unused = give_back(block);
    } else {
      block->state = BlockState::pending;
      block->pending_uses = static_cast<std::uint32_t>(block->uses.size());
      uses.swap(block->uses);
      ++pending_;
    }
  }
  if (!uses.empty()) [[unlikely]]
    record_uses(block, std::move(uses));
  if (unused) [[unlikely]]
    return_upstream(unused);
}

void CachingResource::merge(Block* block, Block* neighbor) {
  if (!neighbor || neighbor->state != BlockState::free) return;
  const bool small = block->segment->small;
  block->segment->bins().remove(neighbor);
  decrease(stats_.inactive_split, small, 1);
  decrease(stats_.inactive_split_bytes, small, neighbor->size);
  if (neighbor == block->prev) {
    block->ptr = neighbor->ptr;
    block->prev = neighbor->prev;
    (block->prev ? block->prev->next : block->segment->first) = block;
  } else {
    block->next = neighbor->next;
    if (block->next) block->next->prev = block;
  }
  block->size += neighbor->size;
  blocks_.give(neighbor);
}

Segment* CachingResource::give_back(Block* block) {
  Segment& segment = *block->segment;
  decrease(stats_.active, segment.small, 1);
  decrease(stats_.active_bytes, segment.small, block->size);
  decrease(stats_.requested_bytes, segment.small, block->requested);
  block->state = BlockState::free;
  block->requested = 0;
  merge(block, block->prev);
  merge(block, block->next);
  segment.bins().insert(block);
  if (block->is_split()) {
    increase(stats_.inactive_split, segment.small, 1);
    increase(stats_.inactive_split_bytes, segment.small, block->size);
  }
  // A private pool always keeps its segments: a captured graph uses them again.
  if (options_.keep_segments || segment.arena->pool != 0) [[likely]]
    return nullptr;
  detach(&segment);
  return &segment;
}

}  // namespace xpu::memory
