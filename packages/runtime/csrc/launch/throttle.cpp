#include "launch/throttle.h"

#include <utility>

#include "graph/start_barrier.h"
#include "process/interrupt.h"
#include "xpu/event.h"

namespace xpu {
namespace {

// A host far ahead takes a core from a CPU device, the driver's lists of pending work grow, and what waits
// for the device, such as the check after Ctrl-C, waits for all of that work.
constexpr std::uint64_t max_pending = 1200;
// Threads that may delay the main thread's signals wait much later: PyTorch's thread of a backward pass
// enqueues all of it, and the main thread waits with the next forward pass.
constexpr std::uint64_t max_pending_with_delay = 12'000;

std::uint64_t limit() {
  return interrupt::may_delay_signals() ? max_pending_with_delay : max_pending;
}

// Waits for all work: meanwhile the host's core joins the computation.
void throttle_cpu(StreamState& stream, std::uint64_t enqueued) {
  auto pending = enqueued - stream.completed.load(std::memory_order_relaxed);
  if (pending <= max_pending || current_start_barrier() || pending <= limit()) return;
  interrupt::throttle(stream);
}

// Waits for the oldest third of the work only, so that the device does not run out of it.
void throttle_gpu(StreamState& stream, std::uint64_t enqueued) {
  auto& checkpoints = stream.checkpoints;
  auto is_early = [&](std::uint64_t interval) { return enqueued < checkpoints.last_count + interval; };
  if (is_early(max_pending / 3) || is_early(limit() / 3) || stream.capturing) return;
  std::shared_ptr<Event> earlier;
  {
    std::lock_guard lock(checkpoints.mutex);
    earlier = checkpoints.earlier;
  }
  if (earlier && !interrupt::wait_briefly(*earlier)) return;  // the next submission waits again
  auto now = std::make_shared<Event>();
  now->record(Stream(&stream));
  std::lock_guard lock(checkpoints.mutex);
  if (is_early(max_pending / 3)) return;  // another thread was here
  checkpoints.earlier = std::exchange(checkpoints.last, std::move(now));
  checkpoints.last_count = enqueued;
}

}  // namespace

void count_and_throttle(StreamState& stream) {
  auto enqueued = stream.enqueued.fetch_add(1, std::memory_order_relaxed) + 1;
  stream.on_cpu ? throttle_cpu(stream, enqueued) : throttle_gpu(stream, enqueued);
}

}  // namespace xpu
