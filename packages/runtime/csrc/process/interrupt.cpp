#include "process/interrupt.h"

#include <unistd.h>

#include <atomic>

#include "graph/start_barrier.h"
#include "memory/strict/strict.h"
#include "process/startup.h"
#include "process/thread_registry.h"
#include "streams/drain_thread.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/interrupt.h"

namespace xpu {
namespace {

using Clock = std::chrono::steady_clock;

// A sleeping host thread handles signals, but wakes some 50 us later than one in clFinish(), which is much
// for a few submissions. So waits for few submissions do not sleep once several of them in a row have been
// short.
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
  auto completed = stream.completed.load(std::memory_order_relaxed);
  auto enqueued = stream.enqueued.load(std::memory_order_relaxed);
  return enqueued > completed ? enqueued - completed : 0;
}

bool is_long_wait(const StreamState& stream) {
  auto pending = pending_of(stream);
  bool is_short =
      pending <= few_submissions && stream.short_waits >= short_waits_in_a_row && stream.host_signals == 0;
  return pending > 0 && !is_short && handles_signals() && !current_start_barrier() && !stream.capturing &&
         !strict::enabled() && !startup::is_forked_or_shut_down();
}

void sleep_and_check(StreamState& stream, const Event& event) {
  if (stream.queue().native && !drain_in_background(stream)) return;
  interrupt::WaitTimer timer(stream);
  thread_registry::BlockingScope blocking;
  strict::AccessGuard guard;
  while (!event.wait_for(interrupt::check_interval)) check_signals.load()();
}

}  // namespace

void set_interrupt_hooks(InterruptHooks hooks) {
  is_signal_pending = hooks.is_pending;
  check_signals = hooks.check;
}

void wait_interruptibly(Stream stream) {
  auto& state = *stream.state();
  auto enqueued = state.enqueued.load(std::memory_order_relaxed);
  if (!is_long_wait(state)) return;
  Event end;
  end.record(stream);
  sleep_and_check(state, end);
  mark_completed(state, enqueued);
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

bool may_delay_signals() {
  return check_signals.load() && gettid() != getpid();
}

bool wait_briefly(const Event& event) {
  constexpr auto max_wait = std::chrono::milliseconds(500);
  auto begin = Clock::now();
  if (begin - signal_seen < check_interval) return event.query();
  thread_registry::BlockingScope blocking;
  while (!event.wait_for(check_interval)) {
    if (handles_signals() && is_signal_pending.load()()) {
      signal_seen = Clock::now();
      return false;
    }
    if (Clock::now() - begin > max_wait) return false;
  }
  return true;
}

void throttle(StreamState& stream) {
  auto enqueued = stream.enqueued.load();
  if (handles_signals() && drain_in_background(stream)) {
    Event end;
    end.record(Stream(&stream));
    if (!wait_briefly(end)) return;
  } else {
    finish(stream);
  }
  mark_completed(stream, enqueued);
}

WaitTimer::WaitTimer(StreamState& stream) : stream_(stream), pending_(pending_of(stream)) {}

WaitTimer::~WaitTimer() {
  if (pending_ == 0 || pending_ > few_submissions) return;
  bool is_short = std::chrono::steady_clock::now() - begin_ < short_wait;
  stream_.short_waits = is_short ? stream_.short_waits + 1 : 0;
}

}  // namespace interrupt
}  // namespace xpu
