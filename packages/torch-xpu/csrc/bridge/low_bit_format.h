// The formats of low-bit weights, by the names that torch_xpu::low_bit_linear has for them: the runtime's
// elements.toml.
#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <string_view>

#include "xpu/tensor.h"

namespace torch_xpu {

struct LowBitFormat {
  std::string_view name;
  xpu::DType dtype;
  int numbers_in_byte;
  const char* number_type;  ///< of the device library: one number in a byte of its own
};

inline constexpr LowBitFormat low_bit_formats[] = {
#define XPU_LOW_BIT_FORMAT(dtype, name, numbers, type) {name, xpu::DType::dtype, numbers, type},
    XPU_FOR_LOW_BIT_FORMATS(XPU_LOW_BIT_FORMAT)
#undef XPU_LOW_BIT_FORMAT
};

/// Raises Python's ValueError, which lists the names.
inline const LowBitFormat& low_bit_format(std::string_view name) {
  std::string names;
  for (auto& format : low_bit_formats) {
    if (name == format.name) return format;
    names.append(names.empty() ? "" : ", ").append(format.name);
  }
  TORCH_CHECK_VALUE(false, "format: got '", name, "', expected one of ", names);
}

}  // namespace torch_xpu
