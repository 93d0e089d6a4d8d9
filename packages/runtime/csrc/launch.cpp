#include "xpu/launch.h"

#include "graph/gate.h"
#include "graph/recording.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "trace/recorder.h"
#include "xpu/error.h"
#include "xpu/interrupt.h"

namespace xpu {
namespace {

thread_local int rehearsals = 0;

// Where there is a queue below, work may go there, and SYCL does not know of it then.
template <class Work>
void in_order(StreamState& stream, Work work) {
  std::lock_guard order(stream.order);
  startup::require_not_ended();  // the end of the process waits for this lock
  if (!stream.below || recorded_by_sycl(stream.queue)) return work();
  direct::Submission submission(stream.below, stream.direct());
  work();
  if (stream.direct()) stream.last = std::move(submission.end);
}

void submit_now(Stream stream, const WorkInfo& info, Submit submit) {
  auto& queue = stream.state()->queue;
  if (!trace::active()) [[likely]]
    return submit(queue, nullptr);
  sycl::event event;
  auto begin = trace::now();
  submit(queue, &event);
  trace::note_work(stream, info, begin, trace::now(), event);
}

// In strict mode the work also ends here: memory is open to the device only while the window is.
void submit_strict(Stream stream, const WorkInfo& info, Submit submit) {
  strict::Window window;
  strict::note_kernel(info.name);
  in_order(*stream.state(), [&] { submit_now(stream, info, submit); });
  finish(*stream.state());
}

}  // namespace

// Far ahead, the host only takes a core from the device, and the driver's lists of what is pending grow. A
// host that waits computes along.
void count_work(StreamState& stream) {
  constexpr int most = 1200;
  auto queued = stream.queued.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!stream.on_cpu || queued - stream.ended.load(std::memory_order_relaxed) <= most || closed_gate())
    return;
  wait_interruptibly(Stream(&stream));
  finish(stream);
  note_ended(stream, queued);
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
  try {
    if (auto* recording = stream.state()->recording.load(std::memory_order_relaxed)) [[unlikely]] {
      // What SYCL records itself does not run now: there is nothing to wait for and no event to time.
      if (!recording->note(info, submit)) submit(stream.state()->queue, nullptr);
      return;
    }
    if (strict::enabled()) [[unlikely]]
      submit_strict(stream, info, submit);
    else
      in_order(*stream.state(), [&] { submit_now(stream, info, submit); });
    count_work(*stream.state());
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
