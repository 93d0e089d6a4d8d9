// oneDNN's work on the CPU device, without the price of a SYCL host task.
//
// oneDNN's CPU engine runs each primitive in a host task of the queue, which costs 20 to 80 microseconds:
// more than many a matmul. The same function run as an OpenCL native kernel of the same queue costs two, in
// the same order.
#pragma once

#include <functional>

#include "direct/submission.h"

namespace xpu::dnn {

/// Queues `work`, which computes on the CPU that the queue is of. What it throws, the next wait for the
/// device throws.
void run_on_host(int device, sycl::queue& queue, sycl::event* event, std::function<void()> work);

/// While alive, a host task submitted by this thread is kept here instead of being queued.
class HostTaskInterceptor {
 public:
  HostTaskInterceptor();
  ~HostTaskInterceptor();
  HostTaskInterceptor(const HostTaskInterceptor&) = delete;
  HostTaskInterceptor& operator=(const HostTaskInterceptor&) = delete;
  /// Queues what was caught, after all that `queue` holds. False when nothing was.
  bool submit(int device, sycl::queue& queue, direct::Submission& submission, sycl::event* event);

 private:
  std::function<void()> task_;
};

}  // namespace xpu::dnn
