#include "ops/structured.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

namespace torch_xpu {

void refuse_devices(c10::Device one, c10::Device other) {
  TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, ", one,
              " and ", other, "!");
}

void check_overlap(const at::Tensor& output, const at::Tensor& input) {
  at::assert_no_internal_overlap(output);
  at::assert_no_partial_overlap(output, input);
}

void check_holds(const at::Tensor& output, at::ScalarType results) {
  TORCH_CHECK(at::canCast(results, output.scalar_type()), "result type ", results,
              " can't be cast to the desired output type ", output.scalar_type());
}

void check_type(const at::Tensor& output, at::ScalarType results) {
  TORCH_CHECK(results == output.scalar_type(), "Expected out tensor to have dtype ", results, ", but got ",
              output.scalar_type(), " instead");
}

namespace {

// As at::empty() of the device, without the dispatcher: the caller's guard has made the device current.
at::Tensor new_output(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
  auto& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory()) [[unlikely]]
    return strides.empty() ? at::empty(sizes, options) : at::empty_strided(sizes, strides, options);
  static auto* const allocator = c10::GetAllocator(c10::DeviceType::XPU);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::XPU);
  auto type = at::typeMetaToScalarType(options.dtype());
  return strides.empty()
             ? at::detail::empty_generic(sizes, allocator, keys, type, options.memory_format_opt())
             : at::detail::empty_strided_generic(sizes, strides, allocator, keys, type);
}

}  // namespace

void make_output(at::Tensor& output, at::IntArrayRef sizes, at::IntArrayRef strides,
                 const at::TensorOptions& options) {
  if (!output.defined()) {
    output = new_output(sizes, strides, options);
    return;
  }
  TORCH_CHECK(options.dtype() == output.dtype(), "Expected out tensor to have dtype ", options.dtype(),
              ", but got ", output.dtype(), " instead");
  TORCH_CHECK(options.device() == output.device(), "Expected out tensor to have device ", options.device(),
              ", but got ", output.device(), " instead");
  if (!at::native::resize_output(output, sizes)) return;
  if (!strides.empty())
    output.as_strided_(sizes, strides);
  else if (auto format = options.memory_format_opt())
    output.unsafeGetTensorImpl()->empty_tensor_restride(*format);
}

}  // namespace torch_xpu
