// Random state: Philox 4x32-10, one stream of numbers per seed on every device.
#pragma once

#include <cstdint>
#include <memory>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

/// A seed and how many numbers of each counter were used. A kernel takes a `Philox` and draws with
/// subsequence = its element, so numbers do not depend on how work is split.
struct Philox {
  std::uint64_t seed = 0, offset = 0;
  /// Of work in a graph: where on the device each replay finds its own seed and offset. They take the place
  /// of `seed`, and come on top of `offset`.
  const std::uint64_t* replay_state = nullptr;
};

/// Copies share their state.
class XPU_API Generator {
 public:
  static constexpr std::uint64_t default_seed = 67280421310721;

  explicit Generator(std::uint64_t seed = default_seed);
  void set_seed(std::uint64_t seed);
  std::uint64_t seed() const;
  /// Offsets are multiples of 4: one Philox call gives four numbers.
  void set_offset(std::uint64_t offset);
  std::uint64_t offset() const;
  /// What a kernel that draws at most `increment` numbers for each element may use; moves the offset on,
  /// rounded up to 4.
  Philox take(std::uint64_t increment);
  /// The same for work that is queued on `stream`, which may be recorded: the offset then moves on with each
  /// replay.
  Philox take(Stream stream, std::uint64_t increment);
  bool operator==(const Generator&) const = default;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The generator every framework of the process shares on `device`.
XPU_API Generator& default_generator(int device);

}  // namespace xpu
