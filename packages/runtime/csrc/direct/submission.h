// Work queued on a CPU device below SYCL, whose own way takes longer than many a kernel runs.
//
// SYCL's in-order queue is one of OpenCL's, so work put there directly keeps its place among what SYCL puts
// there. But SYCL does not count it: while it is the last of a stream, its mark is what the stream is asked
// for.
#pragma once

#include <CL/cl.h>

#include "direct/mark.h"
#include "xpu/sycl_fwd.h"

namespace xpu::direct {

/// The OpenCL queue below, or null where all work goes through SYCL: on every device but an OpenCL CPU.
cl_command_queue queue_below(sycl::queue& queue);

/// Waits for all that is queued.
void finish(cl_command_queue queue);

/// While one lives, what its thread submits may go to the queue below.
class Submission {
 public:
  Submission(cl_command_queue queue, bool kernels);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  /// This thread's, or null.
  static Submission* current();

  const cl_command_queue queue;
  const bool kernels;  ///< or only what would be a host task of SYCL's
  Mark end;            ///< of what went below; none when SYCL took the work

 private:
  Submission* outer_;
};

}  // namespace xpu::direct
