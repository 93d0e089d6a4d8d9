// A kernel as OpenCL queues it.
#pragma once

#include <CL/cl.h>

#include <mutex>

#include "direct/submission.h"
#include "xpu/module.h"

namespace xpu::direct {

class Kernel {
 public:
  /// An object of its own for the same kernel: SYCL sets the arguments of its at any time.
  explicit Kernel(sycl::kernel& kernel);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Both are false when the driver refuses: SYCL then has the words for why.
  bool enqueue(Submission& submission, const NdRange& range, const Args& args);
  /// With the arguments that were set, for a kernel that one graph has to itself.
  bool enqueue(Submission& submission, const NdRange& range);
  bool set(const Args& args);

 private:
  std::mutex mutex_;  // arguments belong to the kernel until it is queued
  cl_kernel kernel_ = nullptr;
};

}  // namespace xpu::direct
