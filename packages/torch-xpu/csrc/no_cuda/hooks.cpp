// Takes CUDA away from a process without an NVIDIA driver, so that the wheel built for CUDA behaves there as
// the one built for the CPU and xpu can be its accelerator. Loaded between libtorch_cuda, whose hooks these
// replace, and the first question for them, which keeps the answer for good.
#include <ATen/detail/CUDAHooksInterface.h>

namespace {

const bool replaced = [] {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs) { return std::make_unique<at::CUDAHooksInterface>(); },
      c10::REGISTRY_PREFERRED);
  return true;
}();

}  // namespace
