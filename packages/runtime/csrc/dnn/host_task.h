// Runs oneDNN's work on the CPU device without the cost of a SYCL host task.
//
// oneDNN's CPU engine runs each primitive in a host task of the queue, which costs 20 to 80 microseconds,
// more than a small matmul. An OpenCL native kernel in the same queue costs two, and keeps the order.
#pragma once

#include <functional>

#include "direct/submission.h"

namespace xpu::dnn {

/// Enqueues `work`, which computes on the CPU of `queue`. The next wait for the device throws its exception.
void run_on_host(int device, sycl::queue& queue, sycl::event* event, std::function<void()> work);

/// While alive, takes the host task that the calling thread submits instead of letting SYCL enqueue it.
class HostTaskInterceptor {
 public:
  HostTaskInterceptor();
  ~HostTaskInterceptor();
  HostTaskInterceptor(const HostTaskInterceptor&) = delete;
  HostTaskInterceptor& operator=(const HostTaskInterceptor&) = delete;
  /// Enqueues the intercepted task on `queue`. Returns false if there is none.
  bool submit(int device, sycl::queue& queue, direct::Submission& submission, sycl::event* event);

 private:
  std::function<void()> task_;
};

}  // namespace xpu::dnn
