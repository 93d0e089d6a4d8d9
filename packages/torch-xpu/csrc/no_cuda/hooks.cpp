// Replaces PyTorch's CUDA hooks with those that report no CUDA, for a process without an NVIDIA driver: the
// wheel built for CUDA then behaves like the one built for the CPU, and xpu can be the accelerator.
//
// Must be loaded after libtorch_cuda, whose hooks these override, and before PyTorch first asks for the
// hooks, because it caches the answer for the life of the process.
#include <ATen/detail/CUDAHooksInterface.h>

namespace {

const bool replaced = [] {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs) { return std::make_unique<at::CUDAHooksInterface>(); },
      c10::REGISTRY_PREFERRED);
  return true;
}();

}  // namespace
