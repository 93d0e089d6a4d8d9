#include "direct/submission.h"

#include <atomic>
#include <map>
#include <mutex>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "kept.h"
#include "opencl.h"
#include "xpu/device.h"

namespace xpu::direct {
namespace {

thread_local Submission* innermost = nullptr;

struct Failures {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::map<cl_command_queue, std::exception_ptr> of;
};

Failures& failures() {
  static auto& one = kept<Failures>();
  return one;
}

void throw_failure(cl_command_queue queue) {
  auto& f = failures();
  if (!f.any.load(std::memory_order_acquire)) [[likely]]
    return;
  std::exception_ptr failure;
  {
    std::lock_guard lock(f.mutex);
    if (auto node = f.of.extract(queue)) failure = node.mapped();
    f.any = !f.of.empty();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

cl_command_queue queue_below(sycl::queue& queue) {
  if (generic_backend() || !queue.get_device().is_cpu() || queue.get_backend() != sycl::backend::opencl)
    return nullptr;
  return sycl::get_native<sycl::backend::opencl>(queue);
}

void finish(cl_command_queue queue) {
  auto status = XPU_CL(clFinish)(queue);
  expect<DeviceError>(status == CL_SUCCESS, "waiting for a stream: OpenCL's error ", status);
  throw_failure(queue);
}

void keep_failure(cl_command_queue queue, std::exception_ptr failure) {
  auto& f = failures();
  std::lock_guard lock(f.mutex);
  f.of.emplace(queue, std::move(failure));
  f.any.store(true, std::memory_order_release);
}

Submission::Submission(cl_command_queue to, bool all) : queue(to), kernels(all), outer_(innermost) {
  innermost = this;
}

Submission::~Submission() {
  innermost = outer_;
}

Submission* Submission::current() {
  return innermost;
}

}  // namespace xpu::direct
