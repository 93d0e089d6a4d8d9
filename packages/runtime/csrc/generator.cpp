#include "xpu/generator.h"

#include <deque>

#include "kept.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

void Generator::set_seed(std::uint64_t seed) {
  std::lock_guard lock(mutex_);
  state_ = {seed, 0};
}

std::uint64_t Generator::seed() const {
  std::lock_guard lock(mutex_);
  return state_.seed;
}

void Generator::set_offset(std::uint64_t offset) {
  expect<UsageError>(offset % 4 == 0, "generator offset: got ", offset, ", expected a multiple of 4");
  std::lock_guard lock(mutex_);
  state_.offset = offset;
}

std::uint64_t Generator::offset() const {
  std::lock_guard lock(mutex_);
  return state_.offset;
}

Philox Generator::take(std::uint64_t increment) {
  std::lock_guard lock(mutex_);
  Philox taken = state_;
  state_.offset += (increment + 3) / 4 * 4;
  return taken;
}

Generator& default_generator(int device) {
  device_info(device);
  static auto& all = kept<std::deque<Generator>>(static_cast<std::size_t>(device_count()));
  return all[device];
}

}  // namespace xpu
