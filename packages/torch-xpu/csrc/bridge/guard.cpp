// Devices, streams and events as c10 sees them.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "bridge/interpreter.h"
#include "bridge/runtime.h"
#include "bridge/trace.h"

namespace torch_xpu {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Stream;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  DeviceType type() const override { return DeviceType::XPU; }

  Device exchangeDevice(Device device) const override { return xpu(exchange_device(device.index())); }
  Device getDevice() const override { return xpu(current_device()); }
  void setDevice(Device device) const override { exchange_device(device.index()); }
  void uncheckedSetDevice(Device device) const noexcept override { set_device_unchecked(device.index()); }
  DeviceIndex deviceCount() const noexcept override { return static_cast<DeviceIndex>(max_device_count()); }
  c10::DeviceCapability getDeviceCapability(Device device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = runtime().scalar_types(index(device));
    return capability;
  }
  void synchronizeDevice(DeviceIndex device) const override {
    fire_gpu_trace([&](auto& to) { to.trace_gpu_device_synchronization(DeviceType::XPU); });
    runtime().synchronize_device(device_or_current(device));
  }

  // Before the runtime is loaded every stream is its device's default one.
  Stream getStream(Device device) const override {
    auto* found = runtime_if_loaded();
    return stream(index(device), found ? found->current_stream(index(device)) : 0);
  }
  Stream getDefaultStream(Device device) const override { return stream(index(device), 0); }
  Stream getNewStream(Device device, int priority) const override {
    auto made = stream(index(device), runtime().new_stream(index(device), priority));
    fire_gpu_trace([&](auto& to) { to.trace_gpu_stream_creation(DeviceType::XPU, handle(made)); });
    return made;
  }
  Stream getStreamFromGlobalPool(Device device, bool high) const override {
    return getNewStream(device, high ? -1 : 0);
  }
  Stream exchangeStream(Stream s) const override {
    return stream(s.device_index(), runtime().exchange_stream(s.device_index(), s.id()));
  }
  void* getStreamNativeHandle(const Stream s) const override {
    return runtime().stream_queue(s.device_index(), s.id());
  }
  bool queryStream(const Stream& s) const override {
    return runtime().query_stream(s.device_index(), s.id());
  }
  void synchronizeStream(const Stream& s) const override {
    fire_gpu_trace([&](auto& to) { to.trace_gpu_stream_synchronization(DeviceType::XPU, handle(s)); });
    runtime().synchronize_stream(s.device_index(), s.id());
  }
  bool isStreamCapturing(const Stream& s) const override {
    auto* found = runtime_if_loaded();
    return found && found->is_capturing(s.device_index(), s.id());
  }

  void record(void** event, const Stream& s, const DeviceIndex device,
              const c10::EventFlag flag) const override {
    TORCH_CHECK(device < 0 || device == s.device_index(), "an event of xpu:", int{device},
                " cannot be recorded on a stream of xpu:", int{s.device_index()});
    if (!*event) {
      *event = runtime().new_event(flag == c10::EventFlag::BACKEND_DEFAULT);
      fire_gpu_trace([&](auto& to) { to.trace_gpu_event_creation(DeviceType::XPU, address(*event)); });
    }
    fire_gpu_trace([&](auto& to) { to.trace_gpu_event_record(DeviceType::XPU, address(*event), handle(s)); });
    runtime().record(*event, s.device_index(), s.id());
  }
  void block(void* event, const Stream& s) const override {
    if (!event) return;
    fire_gpu_trace([&](auto& to) { to.trace_gpu_event_wait(DeviceType::XPU, address(event), handle(s)); });
    // PyTorch's Event.wait() holds the interpreter's lock. The host may have to wait here, and threads that
    // the event depends on, such as those of collectives, may need the lock.
    UnlockedInterpreter unlocked;
    runtime().wait(event, s.device_index(), s.id());
  }
  bool queryEvent(void* event) const override { return !event || runtime().query_event(event); }
  void synchronizeEvent(void* event) const override {
    if (!event) return;
    fire_gpu_trace([&](auto& to) { to.trace_gpu_event_synchronization(DeviceType::XPU, address(event)); });
    runtime().synchronize_event(event);
  }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    if (!event) return;
    fire_gpu_trace([&](auto& to) { to.trace_gpu_event_deletion(DeviceType::XPU, address(event)); });
    runtime_if_loaded()->delete_event(event);
  }
  double elapsedTime(void* begin, void* end, const DeviceIndex) const override {
    TORCH_CHECK(begin && end, "both events must be recorded before the time between them is asked for");
    return runtime().elapsed_ms(begin, end);
  }

  void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& s) const override {
    runtime().record_stream(data.get(), s.device_index(), s.id());
  }

 private:
  static std::uintptr_t handle(const Stream& s) { return runtime().stream_handle(s.device_index(), s.id()); }
  static std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
  static int index(Device device) { return device_or_current(device.index()); }
  static Device xpu(int device) { return {DeviceType::XPU, static_cast<DeviceIndex>(device)}; }
  static Stream stream(int device, std::int64_t id) { return Stream(Stream::UNSAFE, xpu(device), id); }
};

}  // namespace

C10_REGISTER_GUARD_IMPL(XPU, Guard)

}  // namespace torch_xpu
