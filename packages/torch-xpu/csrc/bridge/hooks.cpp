// PyTorch's hooks interface for XPU.
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/XPUHooksInterface.h>
#include <c10/core/Allocator.h>

#include "bridge/allocators.h"
#include "bridge/runtime.h"

namespace at {

// PyTorch's registry knows the hooks by this name.
struct XPUHooks final : XPUHooksInterface {
  // PyTorch takes one accelerator that is built, and CUDA's users must keep theirs.
  bool isBuilt() const override { return !at::detail::getCUDAHooks().isBuilt(); }
  bool hasXPU() const override { return true; }
  bool isAvailable() const override {
    try {
      return torch_xpu::runtime().device_count() > 0;
    } catch (const c10::Error& why) {
      TORCH_WARN_ONCE("xpu is not available: ", why.what_without_backtrace());
      return false;
    }
  }
  void init() const override { torch_xpu::runtime(); }
  bool hasPrimaryContext(DeviceIndex) const override { return torch_xpu::runtime_if_loaded(); }

  DeviceIndex deviceCount() const override {
    return static_cast<DeviceIndex>(torch_xpu::runtime().device_count());
  }
  DeviceIndex getNumGPUs() const override { return deviceCount(); }
  DeviceIndex current_device() const override { return getCurrentDevice(); }
  DeviceIndex getCurrentDevice() const override {
    return static_cast<DeviceIndex>(torch_xpu::current_device());
  }
  void setCurrentDevice(DeviceIndex device) const override { torch_xpu::exchange_device(device); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    return static_cast<DeviceIndex>(device < 0 ? torch_xpu::current_device()
                                               : torch_xpu::exchange_device(device));
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override { return exchangeDevice(device); }
  void deviceSynchronize(DeviceIndex device) const override {
    torch_xpu::runtime().synchronize_device(device);
  }

  // DLPack numbers devices as we do.
  int32_t getGlobalIdxFromDevice(const Device& device) const override { return device.index(); }
  Device getDeviceFromPtr(void* ptr) const override {
    int device = torch_xpu::runtime().device_of_pointer(ptr);
    TORCH_CHECK(device >= 0, "the pointer ", ptr, " is not memory of an xpu device of this process");
    return {DeviceType::XPU, static_cast<DeviceIndex>(device)};
  }
  Allocator* getPinnedMemoryAllocator() const override { return torch_xpu::host_allocator(); }
  bool isPinnedPtr(const void* ptr) const override {
    auto* found = torch_xpu::runtime_if_loaded();
    return found && found->is_pinned(ptr);
  }

  const Generator& getDefaultGenerator(DeviceIndex device) const override {
    return torch_xpu::runtime().default_generator(torch_xpu::device_or_current(device));
  }
  Generator getNewGenerator(DeviceIndex device) const override {
    return torch_xpu::runtime().new_generator(torch_xpu::device_or_current(device));
  }
  std::string showConfig() const override { return "xpu: torch-xpu, on the runtime of xpu-sdk"; }
};

REGISTER_XPU_HOOKS(XPUHooks)

}  // namespace at
