#include "direct/submission.h"

#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "devices/opencl.h"
#include "xpu/device.h"

namespace xpu::direct {
namespace {

thread_local Submission* innermost = nullptr;

}  // namespace

cl_command_queue native_queue(sycl::queue& queue) {
  if (generic_backend() || !queue.get_device().is_cpu() || queue.get_backend() != sycl::backend::opencl)
    return nullptr;
  return sycl::get_native<sycl::backend::opencl>(queue);
}

void finish(cl_command_queue queue) {
  auto status = XPU_CL(clFinish)(queue);
  expect<DeviceError>(status == CL_SUCCESS, "waiting for a stream: OpenCL error ", status);
}

Submission::Submission(cl_command_queue native) : queue(native), outer_(innermost) {
  innermost = this;
}

Submission::~Submission() {
  innermost = outer_;
}

Submission* Submission::current() {
  return innermost;
}

}  // namespace xpu::direct
