#include "graph/start_barrier.h"

#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "devices/opencl.h"
#include "streams/stream_state.h"

namespace xpu {
namespace {

thread_local StartBarrier* held_barrier = nullptr;

}  // namespace

StartBarrier* current_start_barrier() {
  return held_barrier;
}

StartBarrier::StartBarrier(Stream stream) {
  auto& queue = stream.state()->queue().sycl;
  if (held_barrier || !stream.state()->on_cpu || queue.get_backend() != sycl::backend::opencl) return;
  auto native = sycl::get_native<sycl::backend::opencl>(queue);
  auto context = sycl::get_native<sycl::backend::opencl>(queue.get_context());
  auto event = XPU_CL(clCreateUserEvent)(context, nullptr);
  if (event && XPU_CL(clEnqueueBarrierWithWaitList)(native, 1, &event, nullptr) != CL_SUCCESS) {
    XPU_CL(clReleaseEvent)(event);
    event = nullptr;  // without it the work is only slower
  }
  XPU_CL(clReleaseContext)(context);
  XPU_CL(clReleaseCommandQueue)(native);
  event_ = event;
  if (event) held_barrier = this;
}

void StartBarrier::release() noexcept {
  if (!event_) return;
  held_barrier = nullptr;
  auto event = static_cast<cl_event>(event_);
  event_ = nullptr;
  XPU_CL(clSetUserEventStatus)(event, CL_COMPLETE);
  XPU_CL(clReleaseEvent)(event);
}

}  // namespace xpu
