// A kernel object for the native queue.
#pragma once

#include <CL/cl.h>

#include <mutex>

#include "direct/submission.h"
#include "xpu/launch.h"

namespace xpu::direct {

/// Thread-safe but for set(), which is for a kernel of one graph.
class Kernel {
 public:
  /// Makes a second OpenCL object for the kernel, because SYCL may set the arguments of its own at any time.
  explicit Kernel(sycl::kernel& kernel);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Both return false if the driver reports an error; the caller then submits through SYCL, which describes
  // it.
  bool enqueue(Submission& submission, const NdRange& range, const ArgumentList& args);
  /// Enqueues it with the arguments of set().
  bool enqueue(Submission& submission, const NdRange& range);
  bool set(const ArgumentList& args);

 private:
  bool set_one(std::size_t index, const ArgumentList& args);

  std::mutex mutex_;  // held while arguments are set and the kernel is enqueued
  cl_kernel kernel_ = nullptr;
  ManyArgs set_;  // the arguments that the kernel object has
};

}  // namespace xpu::direct
