// Notices what callers submit to a stream's SYCL queue, so that the runtime's work may still bypass SYCL.
//
// The native queue keeps the order of all that is enqueued there. But SYCL may hold work back, for instance
// behind a host task, and does not count what bypassed it. SYCL's next submission takes a queue's external
// event away, so an external event that is still there tells that nothing was submitted.
#pragma once

#include <sycl/sycl.hpp>

namespace xpu {

/// Not thread-safe: the caller holds the stream's `enqueue_mutex`, and no graph captures the stream.
class QueueWatch {
 public:
  /// Returns true if SYCL may have taken work since the last call; end() then stands for that work and all
  /// before it. Never blocks.
  bool update(sycl::queue& queue);
  /// Call before a graph records the queue: it must not record the external event. Never blocks.
  void disarm(sycl::queue& queue);
  /// True if the native queue has all work that SYCL had taken at the last update().
  bool is_settled() const { return settled_; }
  const sycl::event& end() const { return end_; }

 private:
  const sycl::event untouched_;  ///< the external event; complete
  sycl::event end_;
  bool settled_ = false;
};

}  // namespace xpu
