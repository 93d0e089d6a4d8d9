#include "dnn/host_task.h"

#include <dlfcn.h>

#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "graph/start_barrier.h"
#include "opencl.h"
#include "stream_state.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

using Work = std::function<void()>;

thread_local Work* catcher = nullptr;

struct Task {
  Work work;
  int device;

  // Nothing may be thrown through the driver or SYCL, whose threads this runs on.
  void run() const {
    try {
      work();
    } catch (...) {
      keep_failure(device, std::current_exception());
    }
  }
};

void run_and_delete(void* argument) {
  std::unique_ptr<Task>(*static_cast<Task**>(argument))->run();
}

void submit(Task given, sycl::queue& queue, direct::Submission& submission, sycl::event* event) {
  auto* task = new Task(std::move(given));
  cl_event done = nullptr;
  auto status = XPU_CL(clEnqueueNativeKernel)(submission.queue, run_and_delete, &task, sizeof task, 0,
                                              nullptr, nullptr, 0, nullptr, &done);
  if (status != CL_SUCCESS) {
    delete task;
    fail<DeviceError>("enqueuing oneDNN's work: OpenCL error ", status);
  }
  direct::NativeEvent native(done);
  if (event) *event = native.as_sycl(queue.get_context());
  submission.event = std::move(native);
}

}  // namespace

bool catch_host_task(Work& work) {
  if (!catcher) return false;
  *catcher = std::move(work);
  return true;
}

HostTaskCatcher::HostTaskCatcher() {
  catcher = &caught_;
}
HostTaskCatcher::~HostTaskCatcher() {
  catcher = nullptr;
}

bool HostTaskCatcher::submit(int device, sycl::queue& queue, direct::Submission& submission,
                             sycl::event* event) {
  catcher = nullptr;
  if (!caught_) return false;
  dnn::submit({std::move(caught_), device}, queue, submission, event);
  return true;
}

void run_on_host(int device, sycl::queue& queue, sycl::event* event, Work work) {
  Task task{std::move(work), device};
  if (auto* submission = direct::Submission::current())
    return submit(std::move(task), queue, *submission, event);
  auto done = queue.submit([&](sycl::handler& h) { h.host_task([task] { task.run(); }); });
  if (event) *event = done;
}

}  // namespace xpu::dnn

// This library stands before libsycl in the order in which libdnnl's symbols are looked up, so libdnnl calls
// this one. Everybody else's host tasks, and libdnnl's when a loader bound it to libsycl directly, go the
// usual way.
void sycl::_V1::handler::SetHostTask(std::function<void()> work) {
  if (xpu::dnn::catch_host_task(work)) return;
  using Real =
      void (*)(sycl::handler*, std::function<void()>*);  // a std::function by value is passed by address
  static auto real =
      reinterpret_cast<Real>(dlsym(RTLD_NEXT, "_ZN4sycl3_V17handler11SetHostTaskESt8functionIFvvEE"));
  xpu::expect<xpu::InternalError>(real != nullptr, "libsycl has no handler::SetHostTask");
  real(this, &work);
}
