// The random numbers of work in a graph: every replay draws others.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "xpu/generator.h"
#include "xpu/stream.h"

namespace xpu {

class Draws {
 public:
  Draws() = default;
  ~Draws();
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

  /// Before anything is recorded: what is allocated later may be memory that earlier recorded work writes.
  void reserve(Stream stream);
  /// For work that is recorded.
  Philox take(const Generator& generator, std::uint64_t increment);
  /// Queues what gives the recorded work the generators' present states, and moves these on.
  void store(Stream stream);

 private:
  struct Entry {
    Generator generator;
    std::uint64_t used = 0;  ///< offsets that one replay takes
  };
  static constexpr std::size_t most = 32;  ///< generators: their states fit the smallest block of memory
  std::uint64_t* state_of(std::size_t entry) const { return states_ + 2 * entry; }

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t* states_ = nullptr;  ///< on the device: seed and offset of each for one replay
};

}  // namespace xpu
