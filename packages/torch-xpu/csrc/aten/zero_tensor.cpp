// Tensors of zeros that have no memory: gradients of what does not depend on anything.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorFactories.h>
#include <torch/library.h>

namespace torch_xpu {
namespace {

at::Tensor efficient_zeros(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                           std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  at::native::ZeroTensorAllocator allocator(device.value_or(at::Device(at::kXPU, 0)));
  auto keys = c10::DispatchKeySet(c10::DispatchKey::XPU) | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &allocator, keys,
                                   at::dtype_or_default(dtype), {});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_efficientzerotensor", efficient_zeros);
}

}  // namespace torch_xpu
