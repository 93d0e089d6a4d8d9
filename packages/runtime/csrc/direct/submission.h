// Submissions to a CPU device's OpenCL queue that bypass SYCL, whose own way takes longer than many a kernel.
//
// SYCL's in-order queue is one of OpenCL's, so work that is enqueued there directly keeps its order with work
// that SYCL enqueues. But SYCL does not count it: while it is the last work of a stream, its NativeEvent
// stands for the stream.
#pragma once

#include <CL/cl.h>

#include "direct/native_event.h"
#include "xpu/sycl_fwd.h"

namespace xpu::direct {

/// Returns the OpenCL queue under `queue`; null on every device but an OpenCL CPU, where all work goes
/// through SYCL.
cl_command_queue native_queue(sycl::queue& queue);

/// Blocks until all work pending on the queue has completed. Throws DeviceError.
void finish(cl_command_queue queue);

/// Scope in which the calling thread may submit to the OpenCL queue directly. Scopes nest.
class Submission {
 public:
  explicit Submission(cl_command_queue queue);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  /// The calling thread's innermost one, or null.
  static Submission* current();

  const cl_command_queue queue;
  NativeEvent event;  ///< of the work that bypassed SYCL; empty if SYCL took it

 private:
  Submission* outer_;
};

}  // namespace xpu::direct
