// The operators that create xpu tensors. They load the runtime.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "bridge/allocators.h"
#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void check(std::optional<at::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided, "empty on xpu: got layout ", *layout,
              ", expected strided");
  TORCH_CHECK(!pin_memory.value_or(false), "only CPU memory can be pinned; the tensor is to be on xpu");
}

c10::Device here(std::optional<c10::Device> device) {
  int index = device && device->has_index() ? device->index() : current_device();
  int count = runtime().device_count();
  TORCH_CHECK(index < count, "xpu:", index, " is not a device: the process has ", count);
  return {c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(index)};
}

// As PyTorch's own factories: with deterministic algorithms new memory holds NaN or the largest integer.
Tensor filled_if_asked(Tensor made) {
  auto& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory()) [[unlikely]]
    at::native::fill_empty_deterministic_(made);
  return made;
}

constexpr c10::DispatchKeySet keys(c10::DispatchKey::XPU);

Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
             std::optional<c10::Device> device, std::optional<bool> pin_memory,
             std::optional<at::MemoryFormat> format) {
  check(layout, pin_memory);
  c10::DeviceGuard guard(here(device));
  return filled_if_asked(at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), device_allocator(), keys,
                                                   at::dtype_or_default(dtype), format));
}

Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                     std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                     std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  check(layout, pin_memory);
  c10::DeviceGuard guard(here(device));
  return filled_if_asked(
      at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
                                        device_allocator(), keys, at::dtype_or_default(dtype)));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
}

}  // namespace torch_xpu
