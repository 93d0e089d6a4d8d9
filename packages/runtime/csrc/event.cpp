#include "xpu/event.h"

#include <optional>

#include "companion.h"
#include "graph/gate.h"
#include "graph/recording.h"
#include "interrupt.h"
#include "memory/strict/strict.h"
#include "sleep_until.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "using_threads.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

struct Event::State {
  bool timing = false;
  int device = -1;
  direct::Mark mark;  ///< in place of `event`, where SYCL does not know the work before it
  std::optional<sycl::event> event;
  StreamState* stream = nullptr;
  std::uint64_t after = 0;  // work of the stream that came before it
  std::uint64_t in = 0;     // the recording that the stream was in

  // On the cores it waits on, a host that waits for a whole queue computes along, one that waits for an event
  // sleeps and has another thread compute. So the queue is waited for where that is the same.
  bool last_of_cpu_queue() const {
    return stream->on_cpu && !timing && stream->queued.load() == after && !stream->capturing &&
           !closed_gate();
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
  startup::require_not_ended();
  strict::AccessGuard guard;
  auto& from = *stream.state();
  std::lock_guard order(from.order);
  state_->after = from.queued.load();
  state_->device = stream.device();
  state_->stream = &from;
  state_->in = from.recording ? from.recording->id() : 0;
  auto& queue = from.queue().sycl;
  state_->mark = from.last && !recorded_by_sycl(queue) ? from.last : direct::Mark();
  state_->event.reset();
  if (state_->mark && !state_->timing) return;
  guarded("recording an event", [&] {
    bool own_times = from.is_profiling();
    auto reached = state_->mark && !own_times ? state_->mark.as_sycl(sycl_context(from.device))
                                              : queue.ext_oneapi_submit_barrier();
    if (state_->timing && !own_times) reached = profiling_queue(from).ext_oneapi_submit_barrier({reached});
    state_->event = std::move(reached);
  });
  state_->mark = {};
}

bool Event::recorded() const {
  return state_->event.has_value() || state_->mark;
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
  if (!state_->event && state_->mark) state_->event = state_->mark.as_sycl(sycl_context(state_->device));
  return state_->event ? &*state_->event : nullptr;
}

bool Event::query() const {
  if (!recorded()) return true;
  if (state_->mark) return state_->mark.reached();
  return is_complete(*state_->event);
}

void Event::synchronize() const {
  if (!recorded()) return;
  startup::require_not_forked();
  if (!query()) {
    using_threads::Wait wait;
    interrupt::WaitTimer timer(*state_->stream);
    strict::AccessGuard guard;
    guarded("waiting for an event", [&] {
      if (state_->last_of_cpu_queue()) {
        finish(*state_->stream);
      } else if (state_->mark) {
        compute_along(*state_->stream);
        state_->mark.wait();
      } else {
        if (!state_->stream->on_cpu) sleep_until([&] { return query(); });
        state_->event->wait_and_throw();
      }
    });
  }
  note_ended(*state_->stream, state_->after);
  startup::require_thread();  // not before: the caller may wait for memory of its own that the device uses
  throw_pending(state_->device);
}

// SYCL's events tell nobody when they are reached.
bool Event::reached_within(std::chrono::milliseconds most) const {
  if (state_->mark) return state_->mark.wait_for(most);
  return sleep_until([&] { return query(); }, most);
}

std::shared_ptr<Recording> Event::recording() const {
  if (!state_->in) return nullptr;
  std::lock_guard order(state_->stream->order);
  auto now = state_->stream->recording;
  return now && now->id() == state_->in ? now : nullptr;
}

double Event::elapsed_ms(const Event& end) const {
  expect<UsageError>(timing() && end.timing(), "elapsed_ms: both events must be created with timing");
  expect<UsageError>(recorded() && end.recorded(),
                     "elapsed_ms: both events must be recorded before they are compared");
  expect<UsageError>(device() == end.device(), "elapsed_ms: the events are of devices ", device(), " and ",
                     end.device());
  expect<UsageError>(query() && end.query(),
                     "elapsed_ms: an event has not been reached yet; synchronize() it first");
  auto reached = [](const Event& e) {
    return static_cast<std::int64_t>(
        e.state_->event->get_profiling_info<sycl::info::event_profiling::command_end>());
  };
  return guarded("reading event times",
                 [&] { return static_cast<double>(reached(end) - reached(*this)) / 1e6; });
}

}  // namespace xpu
