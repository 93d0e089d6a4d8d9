#include "xpu/host_signal.h"

#include <mutex>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>
#include <utility>
#include <vector>

#include "devices/opencl.h"
#include "devices/sycl_error.h"
#include "process/startup.h"
#include "streams/drain_thread.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/graph.h"

namespace xpu {

// The mutex orders set() behind the submission of a block(): a barrier needs the event alive.
struct HostSignal::State {
  mutable std::mutex mutex;
  int device;
  direct::NativeEvent event;
  std::vector<StreamState*> blocked;
  bool set = false;

  static cl_event user_event(int device) {
    auto context = sycl::get_native<sycl::backend::opencl>(sycl_context(device));
    cl_int status = CL_SUCCESS;
    auto event = XPU_CL(clCreateUserEvent)(context, &status);
    XPU_CL(clReleaseContext)(context);
    expect<DeviceError>(status == CL_SUCCESS, "creating a host signal: OpenCL error ", status);
    return event;
  }
};

bool HostSignal::supported(int device) {
  return sycl_device(device).get_backend() == sycl::backend::opencl;
}

HostSignal::HostSignal(int device) : state_(std::make_unique<State>()) {
  startup::require_usable();
  expect<Unsupported>(supported(device), "device ", device,
                      " has no host signals: streams of its backend cannot wait for the host");
  state_->device = device;
  state_->event = direct::NativeEvent(State::user_event(device));
}

HostSignal::~HostSignal() {
  set();
}

void HostSignal::block(Stream stream) {
  startup::require_usable();
  expect<UsageError>(!is_capturing(stream), "stream ", stream.id(), " of device ", stream.device(),
                     " is being captured into a graph, which cannot wait for the host");
  expect<UsageError>(stream.device() == state_->device, "a host signal of device ", state_->device,
                     " cannot block a stream of device ", stream.device());
  auto& state = *stream.state();
  std::lock_guard signal_lock(state_->mutex);
  if (state_->set) return;
  std::lock_guard enqueue_lock(state.enqueue_mutex);
  startup::require_running();
  translate_sycl_errors("blocking a stream", [&] {
    look_for_callers_work(state);
    state.queue().sycl.ext_oneapi_submit_barrier({state_->event.as_sycl(sycl_context(state.device))});
  });
  state.last_work = {};
  ++state.enqueued;
  ++state.host_signals;
  state_->blocked.push_back(&state);
}

void HostSignal::set() noexcept {
  fail(nullptr);
}

void HostSignal::fail(std::exception_ptr failure) noexcept {
  std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->set, true)) return;
  // At process exit the driver may be gone, and with it all that waited.
  if (startup::is_forked_or_shut_down()) return;
  if (failure) keep_failure(state_->device, std::move(failure));
  state_->event.set_complete();
  for (auto* stream : std::exchange(state_->blocked, {})) --stream->host_signals;
  notify_drain_thread();
}

bool HostSignal::is_set() const {
  std::lock_guard lock(state_->mutex);
  return state_->set;
}

}  // namespace xpu
