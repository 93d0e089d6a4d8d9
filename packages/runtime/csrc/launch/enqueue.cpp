#include "xpu/enqueue.h"

#include "devices/sycl_error.h"
#include "graph/capture.h"
#include "graph/instantiation.h"
#include "launch/throttle.h"
#include "memory/strict/strict.h"
#include "process/env.h"
#include "process/interrupt.h"
#include "process/startup.h"
#include "streams/stream_state.h"
#include "trace/recorder.h"
#include "xpu/error.h"

namespace xpu {
namespace {

thread_local int dry_runs = 0;

// On a queue without profiling, the times of work are those of barriers around it on the profiling queue. The
// caller holds `enqueue_mutex`.
void submit_traced(Stream stream, const WorkInfo& info, EnqueueFunction function) {
  auto& state = *stream.state();
  auto& queue = state.queue().sycl;
  trace::TimingEvents events;
  auto timed_after = [&](const sycl::event& event) {
    return profiling_queue(state).ext_oneapi_submit_barrier({event});
  };
  auto begin = trace::now();
  if (!state.is_profiling()) events.previous = timed_after(completion_of_work(state));
  sycl::event event;
  function(queue, &event);
  auto end = trace::now();
  events.work = state.is_profiling() ? event : timed_after(event);
  trace::record_work(stream, info, begin, end, std::move(events));
}

void submit_now(Stream stream, const WorkInfo& info, EnqueueFunction function) {
  if (!trace::active()) [[likely]]
    return function(stream.state()->queue().sycl, nullptr);
  submit_traced(stream, info, function);
}

// Returns false if a graph captured the work: it does not run now, so there is nothing to wait for or to
// time. Work may go to the native queue, if there is one; SYCL does not know of it then.
bool submit_in_order(Stream stream, const WorkInfo& info, EnqueueFunction function) {
  auto& state = *stream.state();
  std::lock_guard enqueue_lock(state.enqueue_mutex);
  auto& queue = state.queue();
  if (state.capture) [[unlikely]] {
    if (!state.capture->add(info, function)) function(queue.sycl, nullptr);
    return false;
  }
  startup::require_running();  // under the lock, which shutdown takes before it drains the stream
  graph::SubmissionLock no_instantiation;
  if (!may_bypass_sycl(state)) {
    submit_now(stream, info, function);
    return true;
  }
  direct::Submission submission(queue.native);
  submit_now(stream, info, function);
  state.last_work = std::move(submission.event);
  return true;
}

// In strict mode the work also completes here: the device may use memory only while the guard is alive.
bool submit_strict(Stream stream, const WorkInfo& info, EnqueueFunction function) {
  strict::AccessGuard guard;
  strict::set_kernel_name(info.name);
  bool submitted = submit_in_order(stream, info, function);
  if (submitted) finish(*stream.state());
  return submitted;
}

// With XPU_LAUNCH_BLOCKING the call that launched a kernel throws its failure.
bool launches_block() {
  static const bool block = env::flag("XPU_LAUNCH_BLOCKING");
  return block;
}

}  // namespace

void mark_completed(StreamState& stream, std::uint64_t count) {
  auto known = stream.completed.load(std::memory_order_relaxed);
  while (known < count && !stream.completed.compare_exchange_weak(known, count, std::memory_order_relaxed))
    ;
}

void enqueue(Stream stream, const WorkInfo& info, EnqueueFunction function) {
  startup::require_usable();
  if (dry_runs) [[unlikely]]
    return;
  interrupt::note_enqueued();
  try {
    bool submitted =
        strict::enabled() ? submit_strict(stream, info, function) : submit_in_order(stream, info, function);
    if (!submitted) return;
    count_and_throttle(*stream.state());
    if (launches_block()) [[unlikely]]
      stream.synchronize();
  } catch (const sycl::exception& e) {
    throw_translated(e, info.name);
  }
}

DryRunGuard::DryRunGuard() {
  ++dry_runs;
}

DryRunGuard::~DryRunGuard() {
  --dry_runs;
}

}  // namespace xpu
