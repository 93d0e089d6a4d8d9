#include "xpu/stream.h"

#include <array>
#include <deque>
#include <memory>
#include <mutex>

#include "device_table.h"
#include "drain_thread.h"
#include "graph/capture.h"
#include "immortal.h"
#include "interrupt.h"
#include "memory/strict/strict.h"
#include "sleep_until.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "thread_registry.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/fault.h"
#include "xpu/graph.h"
#include "xpu/trace.h"

namespace xpu {
namespace {

constexpr int pool_size = 32;  // as many as PyTorch's other devices have

struct DeviceStreams {
  std::mutex mutex;
  std::deque<StreamState> all;  // a deque keeps addresses
  StreamState* default_stream = nullptr;
  std::array<std::array<StreamState*, pool_size>, 3> pool{};
  std::array<unsigned, 3> next{};
};

DeviceStreams& streams_of(int device) {
  device_info(device);  // throws for an unknown device
  static auto& table = immortal<std::deque<DeviceStreams>>(static_cast<std::size_t>(device_count()));
  return table[device];
}

void store_async_error(sycl::exception_list errors) {
  for (auto& error : errors) std::rethrow_exception(error);
}

StreamState* add(DeviceStreams& streams, int device, int priority, const sycl::queue& queue, bool external) {
  auto id = static_cast<std::int64_t>(streams.all.size());
  auto& added = streams.all.emplace_back(device, id, priority, external, queue);
  // On other backends, and where they are simulated, waiting host threads do not compute.
  added.on_cpu = device_info(device).type == "cpu" && !generic_backend();
  added.queue_exposed = external;
  if (trace::active()) set_profiling(added, true);
  return &added;
}

StreamState* ensure_default(DeviceStreams& streams, int device) {
  if (!streams.default_stream)
    streams.default_stream = add(streams, device, 0, make_queue(device, 0, false), false);
  return streams.default_stream;
}

thread_local std::vector<StreamState*> current;  // by device; null: the default stream

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

sycl::event completion_of_work(StreamState& stream) {
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
  sleep_until([&] { return is_complete(end); });
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
    if (std::unique_lock drain_lock(stream.drain_mutex, std::try_to_lock); drain_lock) {
      direct::finish(queue.native);
    } else {
      drain_in_background(stream);
      direct::NativeEvent::record(queue.native).wait();
    }
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
// The caller may submit work that is not counted here. A barrier tells SYCL of the work that bypassed it, so
// that the caller's host tasks wait for that work.
sycl::queue& Stream::queue() const {
  if (!state_->queue_exposed) {
    std::lock_guard enqueue_lock(state_->enqueue_mutex);
    translate_sycl_errors("exposing a stream's queue", [&] {
      if (state_->is_profiling())
        change_queue(*state_, false);
      else if (state_->last_work)
        state_->own.sycl.ext_oneapi_submit_barrier({completion_of_work(*state_)});
    });
    state_->last_work = {};
    state_->queue_exposed = true;
  }
  return state_->own.sycl;
}

bool Stream::query() const {
  startup::require_not_forked();
  strict::AccessGuard guard;
  std::lock_guard enqueue_lock(state_->enqueue_mutex);
  return state_->last_work ? state_->last_work.is_complete() : state_->queue().sycl.khr_empty();
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
  if (state.direct() && (source.queue_exposed || sycl_context(source.device) != sycl_context(state.device)))
    event.synchronize();
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

Stream default_stream(int device) {
  auto& streams = streams_of(device);
  std::lock_guard lock(streams.mutex);
  return Stream(ensure_default(streams, device));
}

Stream current_stream(int device) {
  if (device >= 0 && static_cast<std::size_t>(device) < current.size() && current[device])
    return Stream(current[device]);
  return default_stream(device);
}

Stream exchange_stream(Stream stream) {
  expect<UsageError>(static_cast<bool>(stream), "an empty stream cannot be made current");
  int device = stream.device();
  Stream before = current_stream(device);
  if (current.size() <= static_cast<std::size_t>(device)) current.resize(device_count());
  current[device] = stream.state();
  return before;
}

Stream stream_from_pool(int device, int priority) {
  startup::require_thread_allowed();
  expect<UsageError>(priority >= -1 && priority <= 1, "stream priority: got ", priority,
                     ", expected -1 (high), 0 or 1 (low)");
  auto& streams = streams_of(device);
  std::lock_guard lock(streams.mutex);
  ensure_default(streams, device);
  auto& slot = streams.pool[priority + 1][streams.next[priority + 1]++ % pool_size];
  if (!slot) slot = add(streams, device, priority, make_queue(device, priority, false), false);
  return Stream(slot);
}

Stream stream_of_id(int device, std::int64_t id) {
  auto& streams = streams_of(device);
  std::lock_guard lock(streams.mutex);
  ensure_default(streams, device);
  expect<UsageError>(id >= 0 && id < static_cast<std::int64_t>(streams.all.size()), "device ", device,
                     " has no stream with id ", id);
  return Stream(&streams.all[id]);
}

Stream external_stream(sycl::queue& queue) {
  expect<UsageError>(queue.is_in_order(),
                     "an external queue must be in order: create it with sycl::property::queue::in_order");
  for (int device = 0; device < device_count(); ++device) {
    if (sycl_device(device) != queue.get_device()) continue;
    expect<UsageError>(sycl_context(device) == queue.get_context(),
                       "the external queue has a context of its own, so memory of "
                       "this process cannot be used on it; create the queue with xpu::sycl_context(",
                       device, ")");
    auto& streams = streams_of(device);
    std::lock_guard lock(streams.mutex);
    ensure_default(streams, device);
    for (auto& state : streams.all)
      if (state.own.sycl == queue) return Stream(&state);
    return Stream(add(streams, device, 0, queue, true));
  }
  fail<UsageError>("the external queue's device is not one of this process's xpu devices");
}

std::vector<Stream> all_streams(int device) {
  auto& streams = streams_of(device);
  std::lock_guard lock(streams.mutex);
  std::vector<Stream> found;
  for (auto& state : streams.all) found.push_back(Stream(&state));
  return found;
}

}  // namespace xpu
