// Checks of a program's inputs.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>

#include <torch/csrc/inductor/aoti_runtime/utils.h>

namespace torch::aot_inductor {

inline const char* xpu_dtype_name(std::int32_t dtype) {
#define XPU_DTYPE_NAME(name) \
  if (dtype == aoti_torch_dtype_##name()) return #name;
  XPU_DTYPE_NAME(float32)
  XPU_DTYPE_NAME(float64)
  XPU_DTYPE_NAME(float16)
  XPU_DTYPE_NAME(bfloat16)
  XPU_DTYPE_NAME(int64)
  XPU_DTYPE_NAME(int32)
  XPU_DTYPE_NAME(int16)
  XPU_DTYPE_NAME(int8)
  XPU_DTYPE_NAME(uint8)
  XPU_DTYPE_NAME(bool)
  XPU_DTYPE_NAME(complex64)
#undef XPU_DTYPE_NAME
  return "another";
}

template <class Write>
[[noreturn]] void xpu_reject_input(int number, const char* name, Write write) {
  std::ostringstream text;
  text << "input " << number << " (" << name << "): ";
  write(text);
  throw std::runtime_error(text.str());
}

/// Throws unless the input is a tensor of that kind. `sizes` has the bounds of each size. A stride of -1 is
/// any; others count only where a size is greater than 1. An `index` of -1 is any.
inline void xpu_check_input(AtenTensorHandle input, int number, const char* name, std::int32_t dtype,
                            std::int32_t device, const char* device_name, std::int32_t index,
                            std::int64_t rank, const std::int64_t (*sizes)[2], const std::int64_t* strides) {
  std::int32_t got_dtype, got_device, got_index;
  std::int64_t got_rank;
  std::int64_t *got_sizes, *got_strides;
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(input, &got_dtype));
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(input, &got_device));
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(input, &got_index));
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(input, &got_rank));
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(input, &got_sizes));
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(input, &got_strides));
  if (got_device != device)
    xpu_reject_input(number, name, [&](auto& text) {
      text << "got a tensor on another device, expected one on " << device_name;
    });
  if (index >= 0 && got_index != index)
    xpu_reject_input(number, name, [&](auto& text) {
      text << "got a tensor on " << device_name << ":" << got_index << ", expected one on " << device_name
           << ":" << index << ", for which the package was loaded";
    });
  if (got_dtype != dtype)
    xpu_reject_input(number, name, [&](auto& text) {
      text << "got dtype " << xpu_dtype_name(got_dtype) << ", expected " << xpu_dtype_name(dtype);
    });
  if (got_rank != rank)
    xpu_reject_input(number, name,
                     [&](auto& text) { text << "got " << got_rank << " dimensions, expected " << rank; });
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto low = sizes[d][0], high = sizes[d][1];
    if (got_sizes[d] < low || got_sizes[d] > high)
      xpu_reject_input(number, name, [&](auto& text) {
        text << "got size " << got_sizes[d] << " in dimension " << d << ", expected ";
        low == high ? text << low : text << low << " to " << high;
      });
    if (strides[d] >= 0 && got_sizes[d] > 1 && got_strides[d] != strides[d])
      xpu_reject_input(number, name, [&](auto& text) {
        text << "got stride " << got_strides[d] << " in dimension " << d << ", expected " << strides[d]
             << ": the package was made for tensors of this layout";
      });
  }
}

}  // namespace torch::aot_inductor
