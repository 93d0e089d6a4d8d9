#include "graph/gate.h"

#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "opencl.h"
#include "stream_state.h"

namespace xpu {
namespace {

thread_local Gate* closed = nullptr;

}  // namespace

Gate* closed_gate() {
  return closed;
}

Gate::Gate(Stream stream) {
  auto& queue = stream.state()->queue().sycl;
  if (closed || !stream.state()->on_cpu || queue.get_backend() != sycl::backend::opencl) return;
  auto native = sycl::get_native<sycl::backend::opencl>(queue);
  auto context = sycl::get_native<sycl::backend::opencl>(queue.get_context());
  auto event = XPU_CL(clCreateUserEvent)(context, nullptr);
  if (event && XPU_CL(clEnqueueBarrierWithWaitList)(native, 1, &event, nullptr) != CL_SUCCESS) {
    XPU_CL(clReleaseEvent)(event);
    event = nullptr;  // the work behind is only slower without
  }
  XPU_CL(clReleaseContext)(context);
  XPU_CL(clReleaseCommandQueue)(native);
  event_ = event;
  if (event) closed = this;
}

void Gate::open() noexcept {
  if (!event_) return;
  closed = nullptr;
  auto event = static_cast<cl_event>(event_);
  event_ = nullptr;
  XPU_CL(clSetUserEventStatus)(event, CL_COMPLETE);
  XPU_CL(clReleaseEvent)(event);
}

}  // namespace xpu
