// The memory pool: segments from upstream, divided into blocks that are reused in stream order.
//
// Locks, in the order they may be taken: grow_mutex_ (held while calling upstream or waiting for the
// device), the index's segment lock, mutex_ (blocks, bins, counters; never held while waiting for the
// device).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/address_index.h"
#include "memory/block.h"
#include "memory/slab.h"
#include "xpu/event.h"
#include "xpu/memory.h"

namespace xpu::memory {

class XPU_API CachingResource final : public Resource {
 public:
  struct Options {
    int device = -1;                 ///< -1 for memory that belongs to no device
    std::size_t max_allocation = 0;  ///< of upstream; 0 if it has no such limit
    bool keep_segments = true;       ///< false: each allocation is a segment, returned upstream when freed
    /// Returns the message for an allocation that failed for `reason`; if empty, the reason is the message.
    std::function<std::string(std::size_t bytes, Stream stream, Owner owner, const std::string& reason)>
        explain = {};
  };

  CachingResource(Resource& upstream, AddressIndex& index, Options options);
  /// Returns all memory upstream. No pending work may use it.
  ~CachingResource() override;

  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
  /// Frees a block that the caller has removed from the index. Never blocks on the device.
  void free(Block* block) noexcept;
  std::size_t release_unused() override;
  void record_stream(void* ptr, Stream stream);

  void retain_pool(PoolId pool);
  void release_pool(PoolId pool, bool give_back);

  const Options& options() const { return options_; }
  struct Totals {
    std::int64_t allocated = 0, reserved = 0;
  };
  Totals totals() const;
  /// Returns the bytes of the allocated block that starts at `ptr`, or 0.
  std::size_t size_of(const void* ptr) const;
  /// Returns the allocated block that contains `ptr`. Call with the index's segment lock held.
  BlockInfo find(const Segment& segment, const void* ptr) const;
  Stats stats() const;
  /// By owner number.
  std::vector<Stat> owner_stats() const;
  std::size_t largest_free() const;
  void reset_peak();
  void reset_accumulated();
  void snapshot(std::vector<SnapshotSegment>& into) const;

 private:
  struct PendingUse {
    Event event;
    Block* block;
  };
  // Events of one stream complete in order, so only the first of a queue is queried.
  struct PendingQueue {
    Stream stream;
    std::deque<PendingUse> uses;
  };
  struct ArenaKey {
    StreamState* stream;
    PoolId pool;
    bool operator==(const ArenaKey&) const = default;
  };
  struct ArenaHash {
    std::size_t operator()(const ArenaKey& key) const {
      return (reinterpret_cast<std::uintptr_t>(key.stream) >> 4) * 31 + key.pool;
    }
  };

  // caching.cpp
  std::size_t round_size(std::size_t bytes) const;
  std::size_t segment_size(std::size_t size) const;
  Arena& arena(Stream stream, PoolId pool);
  Block* take_cached(Stream stream, PoolId pool, std::size_t size);
  Block* give_out(Block* block, std::size_t size, std::size_t requested, Owner owner);
  Block* grow(std::size_t bytes, std::size_t size, Stream stream, PoolId pool, Owner owner);
  [[noreturn]] void fail_allocation(std::size_t bytes, Stream stream, Owner owner, const std::string& reason);
  Segment* give_back(Block* block);
  void merge(Block* block, Block* neighbor);

  // caching_events.cpp: blocks that other streams still use
  void record_uses(Block* block, std::vector<Stream> uses) noexcept;
  bool record_use(Block* block, Stream stream) noexcept;
  void poll();
  void record_deferred();
  void drain();
  void complete_use(Block* block);

  // caching_segments.cpp
  Segment* add_segment(void* memory, std::size_t bytes, Stream stream, PoolId pool, bool small);
  std::size_t release_locked();
  void detach(Segment* segment);
  void return_upstream(Segment* segment) noexcept;
  void return_detached() noexcept;

  Resource& upstream_;
  AddressIndex& index_;
  const Options options_;

  std::mutex grow_mutex_;
  mutable std::mutex mutex_;
  Slab<Block> blocks_;
  Slab<Segment> segments_;
  Segment* first_segment_ = nullptr;
  std::unordered_map<ArenaKey, std::unique_ptr<Arena>, ArenaHash> arenas_;
  Arena* last_arena_ = nullptr;
  std::unordered_map<PoolId, int> pool_uses_;

  std::deque<PendingQueue> pending_queues_;
  std::vector<std::pair<Block*, Stream>>
      deferred_;                    ///< events not recorded yet: the stream was being captured
  std::vector<Segment*> detached_;  ///< without keep_segments: freed by a poll, not yet returned upstream
  std::size_t pending_ = 0;         ///< blocks in pending_queues_ or deferred_

  Stats stats_;
  std::vector<Stat> owners_;
};

}  // namespace xpu::memory
