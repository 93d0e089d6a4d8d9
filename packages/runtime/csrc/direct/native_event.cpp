#include "direct/native_event.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "devices/opencl.h"

namespace xpu::direct {
namespace {

/// The driver notifies it when an event has completed. Thread-safe.
class CompletionSignal {
 public:
  void notify(cl_int status) {
    std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }
  cl_int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return status_.has_value(); });
    return *status_;
  }
  bool wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return status_.has_value(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<cl_int> status_;
};

// The callback shares ownership of the signal: it may run after the caller has stopped waiting.
std::shared_ptr<CompletionSignal> completion_of(cl_event event) {
  using Shared = std::shared_ptr<CompletionSignal>;
  auto signal = std::make_shared<CompletionSignal>();
  auto argument = std::make_unique<Shared>(signal);
  auto callback = [](cl_event, cl_int status, void* data) {
    std::unique_ptr<Shared> shared(static_cast<Shared*>(data));
    (*shared)->notify(status);
  };
  if (XPU_CL(clSetEventCallback)(event, CL_COMPLETE, callback, argument.get()) == CL_SUCCESS)
    static_cast<void>(argument.release());
  else
    signal->notify(XPU_CL(clWaitForEvents)(1, &event));
  return signal;
}

}  // namespace

NativeEvent::~NativeEvent() {
  if (event_) XPU_CL(clReleaseEvent)(event_);
}

NativeEvent::NativeEvent(const NativeEvent& other) : event_(other.event_) {
  if (event_) XPU_CL(clRetainEvent)(event_);
}

NativeEvent NativeEvent::record(cl_command_queue queue) {
  cl_event event = nullptr;
  auto status = XPU_CL(clEnqueueMarkerWithWaitList)(queue, 0, nullptr, &event);
  if (status == CL_SUCCESS) status = XPU_CL(clFlush)(queue);
  NativeEvent recorded(event);
  expect<DeviceError>(status == CL_SUCCESS, "recording an event on the native queue: OpenCL error ", status);
  return recorded;
}

bool NativeEvent::is_complete() const {
  cl_int status = CL_COMPLETE;
  XPU_CL(clGetEventInfo)(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status <= CL_COMPLETE;  // a negative status is an error of completed work
}

void NativeEvent::wait() const {
  auto status = completion_of(event_)->wait();
  expect<DeviceError>(status == CL_COMPLETE, "waiting for work of the native queue: OpenCL error ", status);
}

void NativeEvent::wait_computing() const noexcept {
  XPU_CL(clWaitForEvents)(1, &event_);
}

bool NativeEvent::wait_for(std::chrono::milliseconds timeout) const {
  return is_complete() || completion_of(event_)->wait_for(timeout);
}

sycl::event NativeEvent::as_sycl(const sycl::context& context) const {
  return sycl::make_event<sycl::backend::opencl>({event_}, context);
}

void NativeEvent::set_complete() const noexcept {
  XPU_CL(clSetUserEventStatus)(event_, CL_COMPLETE);
}

}  // namespace xpu::direct
