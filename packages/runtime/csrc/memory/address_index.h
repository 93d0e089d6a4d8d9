// Finds the block that starts at an address, and the segment that contains it. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "memory/spin_lock.h"
#include "xpu/abi.h"

namespace xpu::memory {

struct Block;
struct Segment;

/// Allocated blocks are in open-addressing tables with 64 locks, so that threads seldom contend; segments,
/// which change seldom, are in an ordered map.
class XPU_API AddressIndex {
 public:
  AddressIndex() = default;
  AddressIndex(const AddressIndex&) = delete;

  void put(void* ptr, Block* block);
  Block* get(const void* ptr);
  /// Removes the block and returns it; returns null if no allocated block starts at `ptr`.
  Block* take(const void* ptr);

  void add(Segment* segment);
  void remove(Segment* segment);
  /// Calls `visit(segment)` for the segment that contains `ptr`, which is not freed meanwhile. Returns false
  /// if there is none.
  template <class Visit>
  bool with_segment(const void* ptr, Visit&& visit) {
    std::shared_lock lock(segments_mutex_);
    Segment* segment = find_segment(ptr);
    if (segment) visit(*segment);
    return segment != nullptr;
  }

 private:
  struct Entry {
    std::uintptr_t key;
    Block* block;
  };
  struct alignas(64) Shard {
    SpinLock mutex;
    std::vector<Entry> table;  // a power of two of entries, key 0 is empty
    std::size_t used = 0;
    void insert(std::uintptr_t key, Block* block);
    std::size_t find(std::uintptr_t key) const;
    void erase(std::size_t at);
    void grow();
  };
  static std::uint64_t hash(std::uintptr_t key) { return (key >> 6) * 0x9E3779B97F4A7C15ull; }
  /// The top bits choose the shard and the middle bits the entry; low bits are equal for aligned addresses.
  Shard& shard_of(std::uintptr_t key) { return shards_[hash(key) >> 58]; }
  static std::size_t home(std::uintptr_t key, std::size_t mask) { return (hash(key) >> 24) & mask; }
  Segment* find_segment(const void* ptr) const;

  std::array<Shard, 64> shards_;
  mutable std::shared_mutex segments_mutex_;
  std::map<std::uintptr_t, Segment*> segments_;
};

}  // namespace xpu::memory
