#include "streams/queue_watch.h"

#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <utility>

#include "streams/stream_state.h"

namespace xpu {

// An in-order queue keeps its last event only while SYCL may hold work back. Otherwise it makes a new one,
// which includes work that bypassed SYCL, for each question and before each host task. A submission after the
// last event has completed changes it back. A barrier with a list of events is no substitute: a host task
// that followed one, held back behind another host task, ran before the kernel between them.
bool QueueWatch::update(sycl::queue& queue) {
  auto last = queue.ext_oneapi_get_last_event();
  if (settled_ && last == untouched_) return false;
  end_ = last ? *last : queue.ext_oneapi_submit_barrier();
  settled_ = queue.ext_oneapi_get_last_event() != end_ || is_complete(end_);
  if (!settled_) return true;
  sycl::ext::oneapi::experimental::barrier(queue);
  queue.ext_oneapi_set_external_event(untouched_);
  return true;
}

void QueueWatch::disarm(sycl::queue& queue) {
  if (std::exchange(settled_, false)) sycl::ext::oneapi::experimental::barrier(queue);
}

}  // namespace xpu
