#include "memory/address_index.h"

#include <mutex>

#include "memory/block.h"

namespace xpu::memory {
namespace {
constexpr std::size_t none = ~std::size_t{0};
}

std::size_t AddressIndex::Shard::find(std::uintptr_t key) const {
  if (table.empty()) return none;
  std::size_t mask = table.size() - 1;
  for (std::size_t at = home(key, mask);; at = (at + 1) & mask) {
    if (table[at].key == key) return at;
    if (table[at].key == 0) return none;
  }
}

void AddressIndex::Shard::insert(std::uintptr_t key, Block* block) {
  if (2 * (used + 1) > table.size()) grow();
  std::size_t mask = table.size() - 1, at = home(key, mask);
  while (table[at].key != 0 && table[at].key != key) at = (at + 1) & mask;
  used += table[at].key == 0;
  table[at] = {key, block};
}

// Moves later entries of the run back, so that no tombstones build up.
void AddressIndex::Shard::erase(std::size_t at) {
  std::size_t mask = table.size() - 1, hole = at;
  for (std::size_t next = (at + 1) & mask; table[next].key != 0; next = (next + 1) & mask) {
    std::size_t from = home(table[next].key, mask);
    if (((next - from) & mask) < ((next - hole) & mask)) continue;
    table[hole] = table[next];
    hole = next;
  }
  table[hole] = {0, nullptr};
  --used;
}

void AddressIndex::Shard::grow() {
  std::vector<Entry> old(table.empty() ? 16 : 2 * table.size(), Entry{0, nullptr});
  old.swap(table);
  used = 0;
  for (auto& entry : old)
    if (entry.key) insert(entry.key, entry.block);
}

void AddressIndex::put(void* ptr, Block* block) {
  auto key = reinterpret_cast<std::uintptr_t>(ptr);
  auto& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  shard.insert(key, block);
}

Block* AddressIndex::get(const void* ptr) {
  auto key = reinterpret_cast<std::uintptr_t>(ptr);
  auto& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  std::size_t at = shard.find(key);
  return at == none ? nullptr : shard.table[at].block;
}

Block* AddressIndex::take(const void* ptr) {
  auto key = reinterpret_cast<std::uintptr_t>(ptr);
  auto& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  std::size_t at = shard.find(key);
  if (at == none) return nullptr;
  Block* block = shard.table[at].block;
  shard.erase(at);
  return block;
}

void AddressIndex::add(Segment* segment) {
  std::unique_lock lock(segments_mutex_);
  segments_[reinterpret_cast<std::uintptr_t>(segment->base)] = segment;
}

void AddressIndex::remove(Segment* segment) {
  std::unique_lock lock(segments_mutex_);
  segments_.erase(reinterpret_cast<std::uintptr_t>(segment->base));
}

Segment* AddressIndex::find_segment(const void* ptr) const {
  auto address = reinterpret_cast<std::uintptr_t>(ptr);
  auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return nullptr;
  Segment* segment = std::prev(next)->second;
  return address - reinterpret_cast<std::uintptr_t>(segment->base) < segment->size ? segment : nullptr;
}

}  // namespace xpu::memory
