// Random state of a graph: every replay draws new numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "xpu/generator.h"
#include "xpu/stream.h"

namespace xpu {

/// Device memory with the seed and offset of each generator that captured work draws from.
class GraphRandomState {
 public:
  GraphRandomState() = default;
  ~GraphRandomState();
  GraphRandomState(const GraphRandomState&) = delete;
  GraphRandomState& operator=(const GraphRandomState&) = delete;

  /// Allocates the memory. Call before anything is captured: memory allocated later may be what earlier
  /// captured work writes.
  void reserve(Stream stream);
  /// Returns the state for one captured launch. Thread-safe. Throws UsageError for too many generators.
  Philox take(const Generator& generator, std::uint64_t increment);
  /// Enqueues kernels that store the generators' present states, and advances the generators by one replay.
  void store(Stream stream);

 private:
  struct Entry {
    Generator generator;
    std::uint64_t used = 0;  ///< offsets that one replay takes
  };
  static constexpr std::size_t max_generators = 32;  ///< their states fit the smallest block of memory
  std::uint64_t* state_of(std::size_t entry) const { return states_ + 2 * entry; }

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t* states_ = nullptr;  ///< on the device: {seed, offset} of each entry for one replay
};

}  // namespace xpu
