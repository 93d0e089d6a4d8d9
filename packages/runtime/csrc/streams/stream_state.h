// The state behind a Stream handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <sycl/sycl.hpp>
#include <vector>

#include "direct/submission.h"
#include "streams/queue_watch.h"
#include "streams/wait_policy.h"
#include "xpu/stream.h"

namespace xpu {

class Event;
class Capture;

/// A SYCL queue and, on a CPU device, the OpenCL queue under it. Both live as long as the stream.
struct SubmitQueue {
  explicit SubmitQueue(sycl::queue queue) : sycl(std::move(queue)), native(direct::native_queue(sycl)) {}

  sycl::queue sycl;
  cl_command_queue native;  ///< null if every submission must go through SYCL
};

/// The two newest points, of those recorded at intervals, in the work of a stream: see throttle.cpp.
struct Checkpoints {
  std::mutex mutex;
  std::shared_ptr<Event> earlier, last;      ///< under `mutex`
  std::atomic<std::uint64_t> last_count{0};  ///< submissions of the stream before `last`
};

/// No thread waits for a device while it holds `enqueue_mutex`: work that it waits for may need the lock.
struct StreamState {
  StreamState(int device, std::int64_t id, int priority, bool on_cpu, bool external, sycl::queue queue)
      : own(std::move(queue)), device(device), id(id), priority(priority), on_cpu(on_cpu) {
    queue_exposed = external;
    if (external) watch.emplace();
  }

  SubmitQueue own;  ///< the queue that Stream::queue() returns
  const int device;
  const std::int64_t id;
  const int priority;
  const bool on_cpu;                        ///< the device computes on the cores that enqueue work for it
  std::optional<SubmitQueue> profiling;     ///< for timed events and traces; made once, under `enqueue_mutex`
  std::atomic<SubmitQueue*> active{&own};   ///< work is enqueued here; changed under `enqueue_mutex`
  std::shared_ptr<Capture> capture;         ///< of the graph that captures the stream; under `enqueue_mutex`
  std::atomic<bool> capturing{false};       ///< true if `capture` is set
  std::atomic<std::uint64_t> pool{0};       ///< the private pool that serves this stream; 0: none
  std::atomic<std::uint64_t> enqueued{0};   ///< submissions so far
  std::atomic<std::uint64_t> completed{0};  ///< of those, how many the host has waited for
  std::atomic<int> host_signals{0};         ///< unset ones that the stream's work waits for
  std::atomic<int> short_waits{0};          ///< in a row, for few submissions: see interrupt.cpp
  std::mutex enqueue_mutex;                 ///< held while work is enqueued
  std::mutex drain_mutex;                   ///< held by the host thread that computes for the queue
  direct::NativeEvent last_work;            ///< empty if SYCL knows the last work; under `enqueue_mutex`
  std::atomic<bool> queue_exposed{false};   ///< callers have `own`, so it stays active
  std::optional<QueueWatch> watch;          ///< of an exposed queue; under `enqueue_mutex`
  Checkpoints checkpoints;                  ///< of streams on GPUs
  WaitPolicy wait_policy;                   ///< of hosts that wait for a device that is no CPU

  SubmitQueue& queue() const { return *active.load(std::memory_order_acquire); }
  bool is_profiling() const { return &queue() != &own; }
};

/// Turns device times of the stream's later work on or off. Never blocks: later work waits for earlier work
/// on the device. Does nothing to streams that are captured or whose queue is exposed.
void set_profiling(StreamState& stream, bool enabled);
/// Blocks until all work pending on the stream has completed. Throws the SYCL exceptions of failed work.
void finish(StreamState& stream);
/// Does what Stream::wait() does for a recorded event, also for threads whose work is refused at shutdown.
void enqueue_wait(Stream stream, const Event& event);
/// Lets callers have the stream's own queue, at its address for ever. The caller holds `enqueue_mutex`.
void expose_queue(StreamState& stream);
/// Takes account of what callers have submitted to an exposed queue. The caller holds `enqueue_mutex`.
void look_for_callers_work(StreamState& stream);
/// True if work may go to the native queue now. The caller holds `enqueue_mutex`, and no graph captures the
/// stream.
bool may_bypass_sycl(StreamState& stream);
/// True if SYCL records the queue's work into a graph; it includes queues that waited for the captured one.
bool is_sycl_recording(const sycl::queue& queue);

/// Says that the first `count` submissions of the stream have completed.
void mark_completed(StreamState& stream, std::uint64_t count);
/// Every stream made so far on the device. None is ever destroyed.
std::vector<Stream> all_streams(int device);
/// A new in-order queue like the stream's own.
sycl::queue make_queue(int device, int priority, bool profiling);
/// A SYCL event that completes when the stream's work so far has. The caller holds `enqueue_mutex`.
sycl::event completion_of_work(StreamState& stream);
bool is_complete(const sycl::event& event);
/// The stream's profiling queue, in order among its own events. The caller holds `enqueue_mutex`.
sycl::queue& profiling_queue(StreamState& stream);
/// Stores the first failure of a device's work on the host, for throw_pending().
void keep_failure(int device, std::exception_ptr failure);
/// Throws the stored error of completed work or a kernel fault, if there is one. Never blocks.
void throw_pending(int device);

}  // namespace xpu
