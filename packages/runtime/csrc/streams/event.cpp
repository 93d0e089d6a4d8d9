#include "xpu/event.h"

#include <optional>

#include "devices/sycl_error.h"
#include "graph/capture.h"
#include "graph/start_barrier.h"
#include "memory/strict/strict.h"
#include "process/interrupt.h"
#include "process/startup.h"
#include "process/thread_registry.h"
#include "streams/drain_thread.h"
#include "streams/sleep_until.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

struct Event::State {
  bool timing = false;
  int device = -1;
  direct::NativeEvent native;  ///< instead of `event`, if SYCL does not know the work before it
  std::optional<sycl::event> event;
  StreamState* stream = nullptr;
  std::uint64_t enqueued_before = 0;  ///< submissions of the stream that came before it
  std::uint64_t capture_id = 0;       ///< of the capture that the stream was in; 0: none

  // On a CPU, a host thread that drains a queue computes too; one that waits for an event sleeps, and the
  // drain thread computes. So the queue is drained if the event is the last of it.
  bool is_last_of_cpu_queue() const {
    return stream->on_cpu && !timing && stream->enqueued.load() == enqueued_before && !stream->capturing &&
           !current_start_barrier();
  }
};

Event::Event(bool timing) : state_(std::make_unique<State>()) {
  state_->timing = timing;
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

// A timed event lies on a profiling queue beside the stream, ordered after it, so that streams themselves
// need not pay for profiling.
void Event::record(Stream stream) {
  startup::require_not_forked();
  startup::require_running();
  strict::AccessGuard guard;
  auto& from = *stream.state();
  std::lock_guard enqueue_lock(from.enqueue_mutex);
  state_->enqueued_before = from.enqueued.load();
  state_->device = stream.device();
  state_->stream = &from;
  state_->capture_id = from.capture ? from.capture->id() : 0;
  auto& queue = from.queue().sycl;
  translate_sycl_errors("recording an event", [&] { look_for_callers_work(from); });
  state_->native = from.last_work && !is_sycl_recording(queue) ? from.last_work : direct::NativeEvent();
  state_->event.reset();
  if (state_->native && !state_->timing) return;
  translate_sycl_errors("recording an event", [&] {
    bool is_profiling = from.is_profiling();
    auto event = state_->native && !is_profiling ? state_->native.as_sycl(sycl_context(from.device))
                                                 : queue.ext_oneapi_submit_barrier();
    if (state_->timing && !is_profiling) event = profiling_queue(from).ext_oneapi_submit_barrier({event});
    state_->event = std::move(event);
  });
  state_->native = {};
}

bool Event::recorded() const {
  return state_->event.has_value() || state_->native;
}
bool Event::timing() const {
  return state_->timing;
}
int Event::device() const {
  return state_->device;
}
Stream Event::stream() const {
  return Stream(state_->stream);
}
sycl::event* Event::native() const {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!state_->event && state_->native) state_->event = state_->native.as_sycl(sycl_context(state_->device));
  return state_->event ? &*state_->event : nullptr;
}

bool Event::query() const {
  if (!recorded()) return true;
  if (state_->native) return state_->native.is_complete();
  return is_complete(*state_->event);
}

void Event::synchronize() const {
  if (!recorded()) return;
  startup::require_not_forked();
  if (!query()) {
    thread_registry::BlockingScope blocking;
    interrupt::WaitTimer timer(*state_->stream);
    strict::AccessGuard guard;
    translate_sycl_errors("waiting for an event", [&] {
      if (state_->is_last_of_cpu_queue()) {
        finish(*state_->stream);
      } else if (state_->native) {
        drain_in_background(*state_->stream);
        state_->native.wait();
      } else {
        if (!state_->stream->on_cpu) poll_until(state_->stream->wait_policy, [&] { return query(); });
        state_->event->wait_and_throw();
      }
    });
  }
  mark_completed(*state_->stream, state_->enqueued_before);
  startup::require_thread_allowed();  // after the wait: the device may use the caller's memory
  throw_pending(state_->device);
}

// SYCL's events have no callback, so they are polled.
bool Event::wait_for(std::chrono::milliseconds timeout) const {
  if (state_->native) return state_->native.wait_for(timeout);
  auto is_done = [&] { return query(); };
  if (state_->stream->on_cpu) return sleep_until(is_done, timeout);
  return poll_until(state_->stream->wait_policy, is_done, timeout);
}

std::shared_ptr<Capture> Event::capture() const {
  if (!state_->capture_id) return nullptr;
  std::lock_guard enqueue_lock(state_->stream->enqueue_mutex);
  auto current = state_->stream->capture;
  return current && current->id() == state_->capture_id ? current : nullptr;
}

double Event::elapsed_ms(const Event& end) const {
  expect<UsageError>(timing() && end.timing(), "elapsed_ms: both events must be created with timing");
  expect<UsageError>(recorded() && end.recorded(),
                     "elapsed_ms: both events must be recorded before they are compared");
  expect<UsageError>(device() == end.device(), "elapsed_ms: the events were recorded on devices ", device(),
                     " and ", end.device());
  expect<UsageError>(query() && end.query(),
                     "elapsed_ms: an event has not completed yet; synchronize() it first");
  auto end_ns = [](const Event& e) {
    return static_cast<std::int64_t>(
        e.state_->event->get_profiling_info<sycl::info::event_profiling::command_end>());
  };
  return translate_sycl_errors("reading event times",
                               [&] { return static_cast<double>(end_ns(end) - end_ns(*this)) / 1e6; });
}

}  // namespace xpu
