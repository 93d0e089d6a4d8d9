#include "xpu/generator.h"

#include <deque>
#include <mutex>

#include "graph/capture.h"
#include "process/immortal.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

struct Generator::State {
  std::mutex mutex;
  Philox next;
};

Generator::Generator(std::uint64_t seed) : state_(std::make_shared<State>()) {
  state_->next.seed = seed;
}

void Generator::set_seed(std::uint64_t seed) {
  std::lock_guard lock(state_->mutex);
  state_->next = {seed, 0};
}

std::uint64_t Generator::seed() const {
  std::lock_guard lock(state_->mutex);
  return state_->next.seed;
}

void Generator::set_offset(std::uint64_t offset) {
  expect<UsageError>(offset % 4 == 0, "generator offset: got ", offset, ", expected a multiple of 4");
  std::lock_guard lock(state_->mutex);
  state_->next.offset = offset;
}

std::uint64_t Generator::offset() const {
  std::lock_guard lock(state_->mutex);
  return state_->next.offset;
}

Philox Generator::take(std::uint64_t increment) {
  std::lock_guard lock(state_->mutex);
  Philox taken = state_->next;
  state_->next.offset += (increment + 3) / 4 * 4;
  return taken;
}

Philox Generator::take(Stream stream, std::uint64_t increment) {
  auto& state = *stream.state();
  if (!state.capturing.load(std::memory_order_relaxed)) return take(increment);
  std::shared_ptr<Capture> capture;
  {
    std::lock_guard enqueue_lock(state.enqueue_mutex);
    capture = state.capture;
  }
  return capture ? capture->random_state().take(*this, increment) : take(increment);
}

Generator& default_generator(int device) {
  device_info(device);
  static auto& all = immortal<std::deque<Generator>>(static_cast<std::size_t>(device_count()));
  return all[device];
}

}  // namespace xpu
