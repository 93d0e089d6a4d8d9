// What is behind a Stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <sycl/sycl.hpp>
#include <vector>

#include "direct/submission.h"
#include "xpu/stream.h"

namespace xpu {

class Recording;

struct StreamState {
  int device;
  std::int64_t id;
  int priority;
  bool external;
  sycl::queue queue;                 ///< swapped for a profiling one while a trace is active
  std::optional<sycl::queue> timer;  ///< profiling queue that timed events are taken on, made when needed
  std::atomic<Recording*> recording{nullptr};  ///< not null while a graph records this stream
  std::atomic<std::uint64_t> pool{0};          ///< the private pool that serves this stream; 0: none
  bool on_cpu = false;                         ///< the device computes on the cores that queue work for it
  std::atomic<std::uint64_t> queued{0};        ///< pieces of work so far
  std::atomic<std::uint64_t> ended{0};         ///< of those, what the host has waited for
  cl_command_queue below = nullptr;            ///< where work may go without SYCL; null: all goes through it
  std::mutex order;                            ///< held while work is queued
  std::mutex computing;                        ///< of the host's thread that waits and computes along
  direct::Mark last;                           ///< the last work, when SYCL does not know it; under `order`
  std::atomic<bool> lent{false};               ///< others may queue to `queue`, so kernels go through it too

  /// Whether the stream's kernels go below, and its events are those of what went there.
  bool direct() const { return below && !lent; }
};

/// Gives the stream its queue.
void set_queue(StreamState& stream, sycl::queue queue);
/// Gives the stream another one, once all its work has ended.
void finish_and_set_queue(StreamState& stream, sycl::queue queue);
/// Waits for all work of the stream.
void finish(StreamState& stream);
/// Whether SYCL takes what is queued into a graph: also on streams that waited for the one recorded.
bool recorded_by_sycl(const sycl::queue& queue);

/// Counts a piece of work; waits when much is queued on a CPU device's stream.
void count_work(StreamState& stream);
/// The first `pieces` of the stream's work have ended.
void note_ended(StreamState& stream, std::uint64_t pieces);
/// Every stream made so far on the device.
std::vector<Stream> live_streams(int device);
/// A new in-order queue like the stream's own.
sycl::queue make_queue(int device, int priority, bool profiling);
/// The stream's profiling queue, in order among its own events.
sycl::queue& timer_queue(StreamState& stream);
/// The first failure of a device's work on the host, for throw_pending().
void keep_failure(int device, std::exception_ptr failure);
/// Throws what is pending on the device: errors of finished work and kernel faults.
void throw_pending(int device);

}  // namespace xpu
