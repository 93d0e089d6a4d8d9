// Random state: Philox 4x32-10, one stream of numbers per seed on every device.
#pragma once

#include <cstdint>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

/// Random state of one kernel launch. Work-items draw with subsequence = index of the element, so numbers do
/// not depend on how work is split.
struct Philox {
  std::uint64_t seed = 0, offset = 0;
  /// Device address of {seed, offset} for the current replay; null outside a captured launch. That seed
  /// replaces `seed`, and that offset is added to `offset`.
  const std::uint64_t* replay_state = nullptr;
};

/// Thread-safe. Copies share their state.
class XPU_API Generator {
 public:
  static constexpr std::uint64_t default_seed = 67280421310721;

  explicit Generator(std::uint64_t seed = default_seed);
  void set_seed(std::uint64_t seed);
  std::uint64_t seed() const;
  /// Throws UsageError unless `offset` is a multiple of 4: one Philox call gives four numbers.
  void set_offset(std::uint64_t offset);
  std::uint64_t offset() const;
  /// Returns the state for a kernel that draws at most `increment` numbers for each element, and advances the
  /// offset by that, rounded up to 4.
  Philox take(std::uint64_t increment);
  /// Returns the state for work on `stream`. If a graph captures the stream, each replay advances the offset.
  Philox take(Stream stream, std::uint64_t increment);
  bool operator==(const Generator&) const = default;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The generator of `device` that all frameworks of the process share. Valid as long as the process lives.
XPU_API Generator& default_generator(int device);

}  // namespace xpu
