#include "xpu/stream.h"

#include <mutex>

#include "devices/device_table.h"
#include "devices/sycl_error.h"
#include "graph/capture.h"
#include "memory/strict/strict.h"
#include "process/interrupt.h"
#include "process/startup.h"
#include "process/thread_registry.h"
#include "streams/drain_thread.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/fault.h"
#include "xpu/graph.h"
#include "xpu/trace.h"

namespace xpu {
namespace {

void store_async_error(sycl::exception_list errors) {
  for (auto& error : errors) std::rethrow_exception(error);
}

}  // namespace

sycl::queue make_queue(int device, int priority, bool profiling) {
  namespace p = sycl::ext::oneapi::property::queue;
  sycl::property::queue::in_order order;
  sycl::property::queue::enable_profiling timed;
  auto make = [&](auto... properties) {
    return sycl::queue(sycl_context(device), sycl_device(device), store_async_error, {order, properties...});
  };
  return translate_sycl_errors("creating a queue", [&] {
    if (priority < 0) return profiling ? make(p::priority_high(), timed) : make(p::priority_high());
    if (priority > 0) return profiling ? make(p::priority_low(), timed) : make(p::priority_low());
    return profiling ? make(timed) : make();
  });
}

namespace {

/// No graph records the queue.
void update_watch(StreamState& stream) {
  if (stream.watch->update(stream.own.sycl)) stream.last_work = {};
}

}  // namespace

void look_for_callers_work(StreamState& stream) {
  if (stream.watch && !stream.capturing && !is_sycl_recording(stream.own.sycl)) update_watch(stream);
}

bool may_bypass_sycl(StreamState& stream) {
  auto& queue = stream.queue();
  if (!queue.native || is_sycl_recording(queue.sycl)) return false;
  if (!stream.watch) return true;
  update_watch(stream);
  return stream.watch->is_settled();
}

sycl::event completion_of_work(StreamState& stream) {
  look_for_callers_work(stream);
  return stream.last_work ? stream.last_work.as_sycl(sycl_context(stream.device))
                          : stream.queue().sycl.ext_oneapi_submit_barrier();
}

namespace {

/// The caller holds `enqueue_mutex`.
void change_queue(StreamState& stream, bool profiling) {
  auto end = completion_of_work(stream);
  if (profiling) profiling_queue(stream);
  auto& next = profiling ? *stream.profiling : stream.own;
  next.sycl.ext_oneapi_submit_barrier({end});
  stream.active.store(&next, std::memory_order_release);
  stream.last_work = {};
}

}  // namespace

void expose_queue(StreamState& stream) {
  if (stream.queue_exposed) return;
  translate_sycl_errors("exposing a stream's queue", [&] {
    if (stream.is_profiling()) change_queue(stream, false);
    stream.watch.emplace();
    stream.queue_exposed = true;
  });
}

void set_profiling(StreamState& stream, bool enabled) {
  std::lock_guard enqueue_lock(stream.enqueue_mutex);
  if (stream.capturing || stream.queue_exposed || stream.is_profiling() == enabled) return;
  translate_sycl_errors("switching a stream to its other queue", [&] { change_queue(stream, enabled); });
}

namespace {

/// Blocks until the stream's work so far has completed. khr_empty() must not run while other threads submit
/// to the queue: SYCL's OpenCL adapter reads its last event without a lock.
void sleep_until_complete(StreamState& stream) {
  sycl::event end;
  {
    std::lock_guard enqueue_lock(stream.enqueue_mutex);
    if (!stream.queue_exposed && stream.queue().sycl.khr_empty()) return;
    end = completion_of_work(stream);
  }
  poll_until(stream.wait_policy, [&] { return is_complete(end); });
}

// Blocks until all work that the native queue has now has completed.
void drain(StreamState& stream) {
  auto native = stream.queue().native;
  if (std::unique_lock drain_lock(stream.drain_mutex, std::try_to_lock); drain_lock) {
    direct::finish(native);
  } else {
    drain_in_background(stream);
    direct::NativeEvent::record(native).wait();
  }
}

// Blocks until all work has completed that callers have submitted to an exposed queue, and throws its
// failures. queue::wait() would take the external event of the watch away, and to set it again takes longer
// than a launch.
void finish_callers_work(StreamState& stream) {
  std::optional<sycl::event> held_back;
  {
    std::lock_guard enqueue_lock(stream.enqueue_mutex);
    update_watch(stream);
    if (!stream.watch->is_settled()) held_back = stream.watch->end();
  }
  if (held_back) held_back->wait();
  drain(stream);
  stream.own.sycl.throw_asynchronous();
}

}  // namespace

bool is_complete(const sycl::event& event) {
  using sycl::info::event_command_status;
  return event.get_info<sycl::info::event::command_execution_status>() == event_command_status::complete;
}

void finish(StreamState& stream) {
  thread_registry::BlockingScope blocking;
  auto& queue = stream.queue();
  if (queue.native) {
    drain(stream);
    if (stream.queue_exposed && !stream.capturing && !is_sycl_recording(queue.sycl))
      return finish_callers_work(stream);
  } else if (!stream.on_cpu) {
    sleep_until_complete(stream);
  }
  queue.sycl.wait_and_throw();
}

bool is_sycl_recording(const sycl::queue& queue) {
  namespace ext = sycl::ext::oneapi::experimental;
  return queue.ext_oneapi_get_state() == ext::queue_state::recording;
}

sycl::queue& profiling_queue(StreamState& stream) {
  if (!stream.profiling) stream.profiling.emplace(make_queue(stream.device, stream.priority, true));
  return stream.profiling->sycl;
}

int Stream::device() const {
  return state_->device;
}
std::int64_t Stream::id() const {
  return state_->id;
}
int Stream::priority() const {
  return state_->priority;
}
std::uintptr_t Stream::handle() const {
  return reinterpret_cast<std::uintptr_t>(&state_->own.sycl);
}
sycl::queue& Stream::queue() const {
  if (!state_->queue_exposed) {
    std::lock_guard enqueue_lock(state_->enqueue_mutex);
    expose_queue(*state_);
  }
  return state_->own.sycl;
}

bool Stream::query() const {
  startup::require_not_forked();
  strict::AccessGuard guard;
  std::lock_guard enqueue_lock(state_->enqueue_mutex);
  return translate_sycl_errors("asking whether a stream has ended", [&] {
    look_for_callers_work(*state_);
    if (state_->last_work) return state_->last_work.is_complete();
    return state_->watch ? is_complete(state_->watch->end()) : state_->queue().sycl.khr_empty();
  });
}

void Stream::synchronize() const {
  startup::require_not_forked();
  expect<UsageError>(!is_capturing(*this), "stream ", id(), " of device ", device(),
                     " is being captured into a graph, so it cannot be waited for; end the capture first");
  {
    strict::AccessGuard guard;
    auto enqueued = state_->enqueued.load();
    interrupt::WaitTimer timer(*state_);
    translate_sycl_errors("waiting for a stream", [&] { finish(*state_); });
    mark_completed(*state_, enqueued);
  }
  startup::require_thread_allowed();  // after the wait: the device may use the caller's memory
  throw_pending(state_->device);
}

void enqueue_wait(Stream stream, const Event& event) {
  strict::AccessGuard guard;
  auto& state = *stream.state();
  if (auto capture = event.capture(); capture && stream != event.stream()) {
    bool joined = capture->join(stream, event.stream().state()->pool.load());
    if (joined && !capture->is_native()) return;  // a list is replayed in order
  }
  // For events of other contexts, and of queues with work of others such as host tasks, SYCL waits on the
  // host before it continues a queue. Work on the native queue would not wait for them.
  auto& source = *event.stream().state();
  if (state.queue().native && !state.queue_exposed &&
      (source.queue_exposed || sycl_context(source.device) != sycl_context(state.device))) {
    // Not synchronize(), which may wait for all of the source: meanwhile others may let it wait for this
    // thread.
    drain_in_background(source);
    while (!event.wait_for(interrupt::check_interval)) {
    }
  }
  std::lock_guard enqueue_lock(state.enqueue_mutex);
  translate_sycl_errors("waiting for an event on a stream",
                        [&] { state.queue().sycl.ext_oneapi_submit_barrier({*event.native()}); });
  state.last_work = {};
  ++state.enqueued;
}

void Stream::wait(const Event& event) const {
  if (!event.recorded()) return;
  startup::require_usable();
  enqueue_wait(*this, event);
}

void Stream::wait(Stream other) const {
  if (other == *this) return;
  Event event;
  event.record(other);
  wait(event);
}

}  // namespace xpu
