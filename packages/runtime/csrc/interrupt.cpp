#include "interrupt.h"

#include <unistd.h>

#include <atomic>

#include "companion.h"
#include "graph/gate.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "using_threads.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/interrupt.h"

namespace xpu {
namespace {

using Clock = std::chrono::steady_clock;

// A host that sleeps until it is told hears signals, but is told later than one that computes along: some 50
// us, which is much for few submissions. So those are waited for without, once waits for few have been short
// in a row.
constexpr std::uint64_t few_submissions = 8;
constexpr auto short_wait = std::chrono::milliseconds(20);
constexpr int short_waits_in_a_row = 3;

std::atomic<void (*)()> check_signals{nullptr};
std::atomic<bool (*)()> is_signal_pending{nullptr};

thread_local int operation_depth = 0;
thread_local bool operation_enqueued = false;
thread_local const std::atomic<bool>* operation_cancelled = nullptr;
thread_local Clock::time_point signal_seen{};

bool handles_signals() {
  return check_signals.load() && gettid() == getpid();
}

std::uint64_t pending_of(const StreamState& stream) {
  auto ended = stream.ended.load(std::memory_order_relaxed);
  auto queued = stream.queued.load(std::memory_order_relaxed);
  return queued > ended ? queued - ended : 0;
}

bool is_long_wait(const StreamState& stream) {
  auto pending = pending_of(stream);
  bool is_short = pending <= few_submissions && stream.short_waits >= short_waits_in_a_row;
  return pending > 0 && !is_short && handles_signals() && !closed_gate() && !stream.capturing &&
         !strict::enabled() && !startup::unusable();
}

void sleep_and_check(StreamState& stream, const Event& event) {
  if (stream.queue().native && !compute_along(stream)) return;
  interrupt::WaitTimer timer(stream);
  using_threads::Wait wait;
  strict::AccessGuard guard;
  while (!event.reached_within(interrupt::check_interval)) check_signals.load()();
}

}  // namespace

void set_interrupt_hooks(InterruptHooks hooks) {
  is_signal_pending = hooks.is_pending;
  check_signals = hooks.check;
}

void wait_interruptibly(Stream stream) {
  auto& state = *stream.state();
  auto queued = state.queued.load(std::memory_order_relaxed);
  if (!is_long_wait(state)) return;
  Event end;
  end.record(stream);
  sleep_and_check(state, end);
  note_ended(state, queued);
}

void wait_interruptibly(const Event& event) {
  if (!event.recorded() || event.query()) return;
  auto& state = *event.stream().state();
  if (is_long_wait(state)) sleep_and_check(state, event);
}

OperationScope::OperationScope(const std::atomic<bool>* cancelled) {
  if (operation_depth++ > 0) return;
  operation_enqueued = false;
  operation_cancelled = cancelled;
}

OperationScope::~OperationScope() {
  --operation_depth;
}

namespace interrupt {

void note_enqueued() {
  operation_enqueued = true;
}

void check_operation() {
  if (operation_depth == 0 || operation_enqueued) return;
  expect<UsageError>(!operation_cancelled || !*operation_cancelled, "the operation was cancelled");
  if (handles_signals()) check_signals.load()();
}

void throttle(StreamState& stream) {
  constexpr auto max_wait = std::chrono::milliseconds(500);
  auto queued = stream.queued.load();
  if (handles_signals() && compute_along(stream)) {
    auto begin = Clock::now();
    if (begin - signal_seen < check_interval) return;
    Event end;
    end.record(Stream(&stream));
    using_threads::Wait wait;
    while (!end.reached_within(check_interval)) {
      if (is_signal_pending.load()()) {
        signal_seen = Clock::now();
        return;
      }
      if (Clock::now() - begin > max_wait) return;
    }
  } else {
    finish(stream);
  }
  note_ended(stream, queued);
}

WaitTimer::WaitTimer(StreamState& stream) : stream_(stream), pending_(pending_of(stream)) {}

WaitTimer::~WaitTimer() {
  if (pending_ == 0 || pending_ > few_submissions) return;
  bool is_short = std::chrono::steady_clock::now() - begin_ < short_wait;
  stream_.short_waits = is_short ? stream_.short_waits + 1 : 0;
}

}  // namespace interrupt
}  // namespace xpu
