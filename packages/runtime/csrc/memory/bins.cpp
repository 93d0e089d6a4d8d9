#include "memory/bins.h"

#include <algorithm>
#include <bit>

#include "memory/block.h"

namespace xpu::memory {

std::size_t Bins::bin_of(std::size_t size) {
  std::size_t units = size / unit;
  if (units < exact) return units;
  auto octave = static_cast<std::size_t>(std::bit_width(units)) - 1;
  std::size_t step = (units >> (octave - 5)) & (steps - 1);
  return std::min(exact + (octave - 12) * steps + step, count - 1);
}

std::size_t Bins::find_occupied(std::size_t bin) const {
  if (bin >= count) return count;
  std::size_t word = bin / 64;
  if (auto bits = used_[word] >> (bin % 64)) return bin + static_cast<std::size_t>(std::countr_zero(bits));
  for (std::size_t group = ++word / 64; group < used_words_.size(); ++group) {
    auto bits = used_words_[group];
    if (group == word / 64) bits &= ~std::uint64_t{0} << (word % 64);
    if (!bits) continue;
    std::size_t found = group * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return found * 64 + static_cast<std::size_t>(std::countr_zero(used_[found]));
  }
  return count;
}

void Bins::insert(Block* block) {
  std::size_t bin = bin_of(block->size);
  block->bin_prev = nullptr;
  block->bin_next = heads_[bin];
  if (heads_[bin]) heads_[bin]->bin_prev = block;
  heads_[bin] = block;
  used_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  used_words_[bin / 4096] |= std::uint64_t{1} << (bin / 64 % 64);
}

void Bins::remove(Block* block) {
  if (block->bin_next) block->bin_next->bin_prev = block->bin_prev;
  if (block->bin_prev) {
    block->bin_prev->bin_next = block->bin_next;
    return;
  }
  std::size_t bin = bin_of(block->size);
  heads_[bin] = block->bin_next;
  if (heads_[bin]) return;
  used_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  if (!used_[bin / 64]) used_words_[bin / 4096] &= ~(std::uint64_t{1} << (bin / 64 % 64));
}

Block* Bins::take(std::size_t size) {
  std::size_t bin = find_occupied(bin_of(size));
  // A bin may hold blocks smaller and larger than `size`. The search is bounded, since any block of a later
  // bin is large enough.
  for (int searched_bins = 0; bin < count; bin = find_occupied(bin + 1), ++searched_bins) {
    Block* best = nullptr;
    int left = searched_bins == 0 ? 64 : 8;
    for (Block* block = heads_[bin]; block && left > 0; block = block->bin_next, --left) {
      if (block->size < size) continue;
      if (!best || block->size < best->size) best = block;
      if (best->size == size) break;
    }
    if (!best) continue;
    remove(best);
    return best;
  }
  return nullptr;
}

std::size_t Bins::largest() const {
  for (std::size_t group = used_words_.size(); group-- > 0;) {
    if (!used_words_[group]) continue;
    std::size_t word = group * 64 + 63 - static_cast<std::size_t>(std::countl_zero(used_words_[group]));
    std::size_t bin = word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(used_[word]));
    std::size_t size = 0;
    for (Block* block = heads_[bin]; block; block = block->bin_next) size = std::max(size, block->size);
    return size;
  }
  return 0;
}

}  // namespace xpu::memory
