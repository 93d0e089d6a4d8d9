// What is behind a Stream.
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
#include "xpu/stream.h"

namespace xpu {

class Event;
class Recording;

/// A SYCL queue and, on a CPU device, the OpenCL queue behind it. Both live as long as the stream.
struct SubmitQueue {
  explicit SubmitQueue(sycl::queue queue) : sycl(std::move(queue)), native(direct::queue_below(sycl)) {}

  sycl::queue sycl;
  cl_command_queue native;  ///< null: every submission goes through SYCL
};

/// No thread waits for a device while it holds `order`: the thread that it would wait for may need the lock.
struct StreamState {
  StreamState(int device, std::int64_t id, int priority, bool external, sycl::queue queue)
      : device(device), id(id), priority(priority), external(external), own(std::move(queue)) {}

  const int device;
  const std::int64_t id;
  const int priority;
  const bool external;
  SubmitQueue own;                         ///< what others get of the stream
  std::optional<SubmitQueue> profiling;    ///< for timed events and traces; made once, under `order`
  std::atomic<SubmitQueue*> active{&own};  ///< where work goes now; changed under `order`
  std::shared_ptr<Recording> recording;    ///< the graph's that captures this stream; under `order`
  std::atomic<bool> capturing{false};      ///< whether there is one
  std::atomic<std::uint64_t> pool{0};      ///< the private pool that serves this stream; 0: none
  bool on_cpu = false;                     ///< the device computes on the cores that queue work for it
  std::atomic<std::uint64_t> queued{0};    ///< pieces of work so far
  std::atomic<std::uint64_t> ended{0};     ///< of those, what the host has waited for
  std::atomic<int> short_waits{0};         ///< in a row, for few pieces: see interrupt.cpp
  std::mutex order;                        ///< held while work is queued
  std::mutex computing;                    ///< of the host's thread that waits and computes along
  direct::Mark last;                       ///< the last work, when SYCL does not know it; under `order`
  std::atomic<bool> lent{false};           ///< others may queue to `own`, so kernels go through it too

  SubmitQueue& queue() const { return *active.load(std::memory_order_acquire); }
  /// Whether the stream's kernels go to the OpenCL queue, and its events are those of what went there.
  bool direct() const { return queue().native && !lent; }
  bool is_profiling() const { return &queue() != &own; }
};

/// Has the stream's later work take times on the device, or not. Never blocks: on the device, the later work
/// waits for the earlier. Leaves streams alone that are captured, or whose queue others may hold.
void set_profiling(StreamState& stream, bool enabled);
/// Waits for all work of the stream.
void finish(StreamState& stream);
/// Stream::wait() for a recorded event, also of threads whose work is refused as the process shuts down.
void enqueue_wait(Stream stream, const Event& event);
/// Whether SYCL takes what is queued into a graph: also on streams that waited for the one recorded.
bool recorded_by_sycl(const sycl::queue& queue);

/// Counts a piece of work; waits when much is queued on a CPU device's stream. Throws nothing of Ctrl-C.
void count_work(StreamState& stream);
/// The first `pieces` of the stream's work have ended.
void note_ended(StreamState& stream, std::uint64_t pieces);
/// Every stream made so far on the device.
std::vector<Stream> live_streams(int device);
/// A new in-order queue like the stream's own.
sycl::queue make_queue(int device, int priority, bool profiling);
/// An event that SYCL knows and that ends with the stream's work so far. The caller holds `order`.
sycl::event end_of_work(StreamState& stream);
bool is_complete(const sycl::event& event);
/// The stream's profiling queue, in order among its own events. The caller holds `order`.
sycl::queue& profiling_queue(StreamState& stream);
/// The first failure of a device's work on the host, for throw_pending().
void keep_failure(int device, std::exception_ptr failure);
/// Throws what is pending on the device: errors of finished work and kernel faults.
void throw_pending(int device);

}  // namespace xpu
