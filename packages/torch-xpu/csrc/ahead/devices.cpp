// The C functions of devices and streams that PyTorch declares in shim_xpu.h.
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include "bridge/runtime.h"

// PyTorch declares them in builds for xpu alone. In its other headers the macro changes layouts that the
// stock wheel does not have, so those come before.
#define USE_XPU
#include <torch/csrc/inductor/aoti_torch/c/shim_xpu.h>
#undef USE_XPU

namespace torch_xpu {
namespace {

c10::Device xpu_device(std::int32_t index) {
  return {c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device_or_current(index))};
}

// The identity of the stream at an address.
std::int64_t id_of_address(void* address, c10::Device device) {
  if (!address) return runtime().current_stream(device.index());
  auto handle = reinterpret_cast<std::uintptr_t>(address);
  return handle == runtime().stream_handle(device.index(), 0) ? 0 : static_cast<std::int64_t>(handle);
}

}  // namespace
}  // namespace torch_xpu

using torch_xpu::runtime;
using torch_xpu::xpu_device;

AOTITorchError aoti_torch_create_xpu_guard(std::int32_t device,
                                           XPUGuardHandle* ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  *ret = reinterpret_cast<XPUGuardHandle>(new c10::DeviceGuard(xpu_device(device)));
})}

AOTITorchError aoti_torch_delete_xpu_guard(XPUGuardHandle guard){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ delete reinterpret_cast<c10::DeviceGuard*>(guard); })}

AOTITorchError aoti_torch_xpu_guard_set_index(XPUGuardHandle guard, std::int32_t device){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
      reinterpret_cast<c10::DeviceGuard*>(guard)->set_index(xpu_device(device).index());
    })}

AOTITorchError
    aoti_torch_create_xpu_stream_guard(void* stream, std::int32_t device,
                                       XPUStreamGuardHandle* ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
      auto on = xpu_device(device);
      c10::Stream chosen(c10::Stream::UNSAFE, on, torch_xpu::id_of_address(stream, on));
      *ret = reinterpret_cast<XPUStreamGuardHandle>(new c10::StreamGuard(chosen));
    })}

AOTITorchError aoti_torch_delete_xpu_stream_guard(XPUStreamGuardHandle guard){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ delete reinterpret_cast<c10::StreamGuard*>(guard); })}

AOTITorchError aoti_torch_get_current_xpu_stream(std::int32_t device,
                                                 void** ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  auto index = torch_xpu::device_or_current(device);
  auto& loaded = runtime();
  *ret = reinterpret_cast<void*>(loaded.stream_handle(index, loaded.current_stream(index)));
})}

AOTITorchError aoti_torch_get_current_xpu_device(std::int32_t* device){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ *device = torch_xpu::current_device(); })}

AOTITorchError
    aoti_torch_set_current_xpu_device(const std::int32_t& device){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
      runtime();
      torch_xpu::exchange_device(device);
    })}

AOTITorchError aoti_torch_get_current_sycl_queue(void** ret) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    auto& loaded = runtime();
    auto device = torch_xpu::current_device();
    *ret = loaded.stream_queue(device, loaded.current_stream(device));
  })
}
