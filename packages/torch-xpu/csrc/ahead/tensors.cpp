// The C function of new tensors.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include "bridge/runtime.h"
#include "torch_xpu/aoti/runtime.h"

AOTITorchError aoti_torch_xpu_empty_strided(std::int64_t ndim, const std::int64_t* sizes,
                                            const std::int64_t* strides, std::int32_t dtype,
                                            std::int32_t device, AtenTensorHandle* ret) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    auto count = static_cast<std::size_t>(ndim);
    at::IntArrayRef shape(sizes, count);
    at::IntArrayRef steps(strides, count);
    auto type = static_cast<c10::ScalarType>(dtype);
    bool is_filled = at::globalContext().deterministicAlgorithms() &&
                     at::globalContext().deterministicFillUninitializedMemory();
    bool is_current = device < 0 || device == torch_xpu::current_device();
    if (is_current && !is_filled && torch_xpu::runtime_if_loaded()) [[likely]] {
      static auto* const allocator = c10::GetAllocator(c10::DeviceType::XPU);
      constexpr c10::DispatchKeySet keys(c10::DispatchKey::XPU);
      *ret = torch::aot_inductor::new_tensor_handle(
          at::detail::empty_strided_generic(shape, steps, allocator, keys, type));
    } else {
      c10::Device on(c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device));
      *ret = torch::aot_inductor::new_tensor_handle(
          at::empty_strided(shape, steps, at::TensorOptions().dtype(type).device(on)));
    }
  })
}
