// Element types of arrays by the number of their PJRT_Buffer_Type.
#pragma once

#include <cstdint>

#include "xpu/tensor.h"

namespace xla_xpu {

struct ElementType {
  xpu::ElementKind kind;
  std::uint8_t bits, bytes;  ///< that carry the value; that a stored element fills, none for a token
};

/// Returns null for an unknown number.
const ElementType* find_element_type(int number);

}  // namespace xla_xpu
