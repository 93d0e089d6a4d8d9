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

std::atomic<bool> any_failure{false};

struct Failures {
  std::mutex mutex;
  std::map<cl_command_queue, std::exception_ptr> of;
  ~Failures() { any_failure = false; }  // streams may be waited for later
};

Failures& failures() {
  static auto& one = kept<Failures>();
  return one;
}

void throw_failure(cl_command_queue queue) {
  if (!any_failure.load(std::memory_order_acquire)) [[likely]]
    return;
  auto& f = failures();
  std::exception_ptr failure;
  {
    std::lock_guard lock(f.mutex);
    if (auto node = f.of.extract(queue)) failure = node.mapped();
    any_failure = !f.of.empty();
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
  any_failure.store(true, std::memory_order_release);
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
