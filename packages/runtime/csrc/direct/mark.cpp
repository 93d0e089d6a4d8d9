#include "direct/mark.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "opencl.h"

namespace xpu::direct {
namespace {

/// Told by the driver when an event has ended.
class Ended {
 public:
  void tell(cl_int status) {
    std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }
  cl_int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return status_.has_value(); });
    return *status_;
  }
  bool wait_for(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [this] { return status_.has_value(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<cl_int> status_;
};

// The callback has its own share: it may still run when nobody waits any more.
std::shared_ptr<Ended> end_of(cl_event event) {
  auto ended = std::make_shared<Ended>();
  auto told = std::make_unique<std::shared_ptr<Ended>>(ended);
  auto tell = [](cl_event, cl_int status, void* data) {
    std::unique_ptr<std::shared_ptr<Ended>> told(static_cast<std::shared_ptr<Ended>*>(data));
    (*told)->tell(status);
  };
  if (XPU_CL(clSetEventCallback)(event, CL_COMPLETE, tell, told.get()) == CL_SUCCESS)
    static_cast<void>(told.release());
  else
    ended->tell(XPU_CL(clWaitForEvents)(1, &event));
  return ended;
}

}  // namespace

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
  auto status = end_of(event_)->wait();
  expect<DeviceError>(status == CL_COMPLETE, "waiting for a kernel: OpenCL's error ", status);
}

bool Mark::wait_for(std::chrono::milliseconds most) const {
  return reached() || end_of(event_)->wait_for(most);
}

sycl::event Mark::as_sycl(const sycl::context& context) const {
  return sycl::make_event<sycl::backend::opencl>({event_}, context);
}

}  // namespace xpu::direct
