#include "xpu/launch.h"

#include "env.h"
#include "graph/gate.h"
#include "graph/instantiation.h"
#include "graph/recording.h"
#include "interrupt.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "trace/recorder.h"
#include "xpu/error.h"

namespace xpu {
namespace {

thread_local int rehearsals = 0;

// The times of work on a queue that takes none are those of marks around it. The caller holds the stream's
// order.
void submit_traced(Stream stream, const WorkInfo& info, Submit submit) {
  auto& state = *stream.state();
  auto& queue = state.queue().sycl;
  trace::TimingEvents events;
  auto mark = [&](const sycl::event& event) {
    return profiling_queue(state).ext_oneapi_submit_barrier({event});
  };
  auto begin = trace::now();
  if (!state.is_profiling()) events.previous = mark(end_of_work(state));
  sycl::event event;
  submit(queue, &event);
  auto end = trace::now();
  events.work = state.is_profiling() ? event : mark(event);
  trace::record_work(stream, info, begin, end, std::move(events));
}

void submit_now(Stream stream, const WorkInfo& info, Submit submit) {
  if (!trace::active()) [[likely]]
    return submit(stream.state()->queue().sycl, nullptr);
  submit_traced(stream, info, submit);
}

// False when a graph captured the work, which then does not run now: there is nothing to wait for or to time.
// Where there is an OpenCL queue, work may go there, and SYCL does not know of it then.
bool submit_in_order(Stream stream, const WorkInfo& info, Submit submit) {
  auto& state = *stream.state();
  std::lock_guard order(state.order);
  auto& queue = state.queue();
  if (state.recording) [[unlikely]] {
    if (!state.recording->note(info, submit)) submit(queue.sycl, nullptr);
    return false;
  }
  startup::require_not_ended();  // the end of the process waits for this lock
  graph::SubmissionLock no_instantiation;
  if (!queue.native || recorded_by_sycl(queue.sycl)) {
    submit_now(stream, info, submit);
    return true;
  }
  direct::Submission submission(queue.native, state.direct());
  submit_now(stream, info, submit);
  if (state.direct()) state.last = std::move(submission.end);
  return true;
}

// In strict mode the work also ends here: memory is open to the device only while the guard is alive.
bool submit_strict(Stream stream, const WorkInfo& info, Submit submit) {
  strict::AccessGuard guard;
  strict::set_kernel_name(info.name);
  bool submitted = submit_in_order(stream, info, submit);
  if (submitted) finish(*stream.state());
  return submitted;
}

// So that a failure is raised by the call that launched the kernel.
bool launches_block() {
  static const bool block = env::flag("XPU_LAUNCH_BLOCKING");
  return block;
}

}  // namespace

// Far ahead, the host only takes a core from the device, and the driver's lists of what is pending grow. A
// host that waits computes along.
void count_work(StreamState& stream) {
  constexpr int max_pending = 1200;
  auto queued = stream.queued.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!stream.on_cpu || queued - stream.ended.load(std::memory_order_relaxed) <= max_pending || closed_gate())
    return;
  interrupt::throttle(stream);
}

void note_ended(StreamState& stream, std::uint64_t pieces) {
  auto known = stream.ended.load(std::memory_order_relaxed);
  while (known < pieces && !stream.ended.compare_exchange_weak(known, pieces, std::memory_order_relaxed))
    ;
}

void enqueue(Stream stream, const WorkInfo& info, Submit submit) {
  startup::require_usable();
  if (rehearsals) [[unlikely]]
    return;
  interrupt::note_enqueued();
  try {
    bool submitted =
        strict::enabled() ? submit_strict(stream, info, submit) : submit_in_order(stream, info, submit);
    if (!submitted) return;
    count_work(*stream.state());
    if (launches_block()) [[unlikely]]
      stream.synchronize();
  } catch (const sycl::exception& e) {
    throw_translated(e, info.name);
  }
}

Rehearsal::Rehearsal() {
  ++rehearsals;
}

Rehearsal::~Rehearsal() {
  --rehearsals;
}

}  // namespace xpu
