// Free blocks by size: finds the best fit in constant time, without allocating.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace xpu::memory {

struct Block;

/// Sizes are multiples of `unit`. Below `exact * unit` bytes (2 MB) every size has a bin of its own; above,
/// each power of two has 32. Links are inside the blocks.
class Bins {
 public:
  static constexpr std::size_t unit = 512;

  void insert(Block* block);
  void remove(Block* block);
  /// Removes and returns a block of at least `size` bytes; returns null if there is none.
  Block* take(std::size_t size);
  std::size_t largest() const;

 private:
  static constexpr std::size_t exact = 4096, octaves = 40, steps = 32;
  static constexpr std::size_t count = exact + octaves * steps, words = count / 64;
  static_assert(count % 64 == 0 && words <= 128);

  static std::size_t bin_of(std::size_t size);
  /// Returns the first bin from `bin` on that holds a block, or `count`.
  std::size_t find_occupied(std::size_t bin) const;

  std::array<Block*, count> heads_{};
  std::array<std::uint64_t, words> used_{};
  std::array<std::uint64_t, 2> used_words_{};
};

}  // namespace xpu::memory
