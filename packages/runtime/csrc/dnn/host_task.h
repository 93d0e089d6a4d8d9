// oneDNN's work on the CPU device, without the price of a SYCL host task.
//
// oneDNN's CPU engine runs each primitive in a host task of the queue, which costs 20 to 80 microseconds:
// more than many a matmul. The same function run as an OpenCL native kernel of the same queue costs two, in
// the same order.
#pragma once

#include <functional>

#include "xpu/sycl_fwd.h"

namespace xpu::dnn {

/// While alive, a host task submitted by this thread is kept here instead of being queued.
class HostTaskCatcher {
 public:
  HostTaskCatcher();
  ~HostTaskCatcher();
  HostTaskCatcher(const HostTaskCatcher&) = delete;
  HostTaskCatcher& operator=(const HostTaskCatcher&) = delete;
  /// Queues what was caught, after all that `queue` holds. False when nothing was.
  bool submit(sycl::queue& queue, void* native_queue, sycl::event* event);

 private:
  std::function<void()> caught_;
};

/// The OpenCL queue below an OpenCL CPU device's queue that can run native kernels, otherwise null.
void* native_kernel_queue(sycl::queue& queue);

}  // namespace xpu::dnn
