#include "direct/mark.h"

#include <atomic>
#include <memory>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "opencl.h"

namespace xpu::direct {

Mark::~Mark() {
  if (event_) XPU_CL(clReleaseEvent)(event_);
}

Mark::Mark(const Mark& other) : event_(other.event_) {
  if (event_) XPU_CL(clRetainEvent)(event_);
}

Mark Mark::behind(cl_command_queue queue) {
  cl_event event = nullptr;
  auto status = XPU_CL(clEnqueueMarkerWithWaitList)(queue, 0, nullptr, &event);
  if (status == CL_SUCCESS) status = XPU_CL(clFlush)(queue);
  Mark mark(event);
  expect<DeviceError>(status == CL_SUCCESS, "marking a stream: OpenCL's error ", status);
  return mark;
}

bool Mark::reached() const {
  cl_int status = CL_COMPLETE;
  XPU_CL(clGetEventInfo)(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status <= CL_COMPLETE;  // below are errors: the work has ended
}

void Mark::wait() const {
  struct Ended {
    std::atomic<bool> flag{false};
    cl_int status = CL_COMPLETE;
  };
  auto ended = std::make_shared<Ended>();
  auto* told = new std::shared_ptr<Ended>(ended);  // the callback's own: it may still run when this returns
  auto tell = [](cl_event, cl_int status, void* data) {
    std::unique_ptr<std::shared_ptr<Ended>> told(static_cast<std::shared_ptr<Ended>*>(data));
    (*told)->status = status;
    (*told)->flag = true;
    (*told)->flag.notify_all();
  };
  if (XPU_CL(clSetEventCallback)(event_, CL_COMPLETE, tell, told) != CL_SUCCESS) {
    delete told;
    ended->status = XPU_CL(clWaitForEvents)(1, &event_);
  } else {
    ended->flag.wait(false);
  }
  expect<DeviceError>(ended->status == CL_COMPLETE, "waiting for a kernel: OpenCL's error ", ended->status);
}

sycl::event Mark::as_sycl(const sycl::context& context) const {
  return sycl::make_event<sycl::backend::opencl>({event_}, context);
}

}  // namespace xpu::direct
