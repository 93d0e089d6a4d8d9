// What is behind a Stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <sycl/sycl.hpp>
#include <vector>

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
};

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
/// Throws what is pending on the device: errors of finished work and kernel faults.
void throw_pending(int device);

}  // namespace xpu
