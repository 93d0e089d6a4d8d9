#include "xpu/interrupt.h"

#include <atomic>
#include <chrono>

#include "companion.h"
#include "graph/gate.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "stream_state.h"
#include "using_threads.h"
#include "xpu/event.h"
#include "xpu/graph.h"

namespace xpu {
namespace {

constexpr std::uint64_t much =
    8;  // pieces of work; a host that waits for fewer is not to be slowed by asking
constexpr auto between_questions = std::chrono::milliseconds(100);

std::atomic<void (*)()> interruption{nullptr};

}  // namespace

void set_interruption(void (*ask)()) {
  interruption = ask;
}

void wait_interruptibly(Stream stream) {
  auto& state = *stream.state();
  auto queued = state.queued.load(std::memory_order_relaxed);
  if (queued - state.ended.load(std::memory_order_relaxed) <= much) return;
  auto ask = interruption.load();
  if (!ask || closed_gate() || is_capturing(stream) || startup::unusable()) return;
  if (state.below && !compute_along(state)) return;
  Event end;
  end.record(stream);
  using_threads::Wait wait;
  strict::Window window;
  while (!end.reached_within(between_questions)) ask();
  note_ended(state, queued);
}

}  // namespace xpu
