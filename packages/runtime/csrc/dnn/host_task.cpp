#include "dnn/host_task.h"

#include <dlfcn.h>

#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "devices/opencl.h"
#include "graph/start_barrier.h"
#include "streams/stream_state.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

using Work = std::function<void()>;

// Where the calling thread's HostTaskInterceptor receives a task; null if none is intercepting.
thread_local Work* task_slot = nullptr;

struct Task {
  Work work;
  int device;

  // Called on threads of the driver or of SYCL, where an exception must not escape: the device keeps it, and
  // the next wait throws it.
  void run() const {
    try {
      work();
    } catch (...) {
      keep_failure(device, std::current_exception());
    }
  }
};

// `argument` points to OpenCL's copy of the Task's address.
void run_and_delete(void* argument) {
  std::unique_ptr<Task>(*static_cast<Task**>(argument))->run();
}

void submit(Task work, sycl::queue& queue, direct::Submission& submission, sycl::event* event) {
  auto* task = new Task(std::move(work));
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

bool intercept_host_task(Work& work) {
  if (!task_slot) return false;
  *task_slot = std::move(work);
  return true;
}

HostTaskInterceptor::HostTaskInterceptor() {
  task_slot = &task_;
}
HostTaskInterceptor::~HostTaskInterceptor() {
  task_slot = nullptr;
}

bool HostTaskInterceptor::submit(int device, sycl::queue& queue, direct::Submission& submission,
                                 sycl::event* event) {
  task_slot = nullptr;  // ends the interception
  if (!task_) return false;
  dnn::submit({std::move(task_), device}, queue, submission, event);
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

// Takes the place of libsycl's function of this name for libdnnl, since the loader looks up libdnnl's symbols
// in this library before libsycl. Any other host task, from whatever library, is passed on to libsycl. If a
// loader binds libdnnl to libsycl all the same, this is not called, and oneDNN's tasks stay SYCL host tasks.
void sycl::_V1::handler::SetHostTask(std::function<void()> work) {
  if (xpu::dnn::intercept_host_task(work)) return;
  // The C++ ABI passes a std::function by value as the address of a copy.
  using Function = void (*)(sycl::handler*, std::function<void()>*);
  static auto sycl_function =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "_ZN4sycl3_V17handler11SetHostTaskESt8functionIFvvEE"));
  xpu::expect<xpu::InternalError>(sycl_function != nullptr, "libsycl has no handler::SetHostTask");
  sycl_function(this, &work);
}
