#include "exec/element_type.h"

#include <pjrt_c_api.h>

namespace xla_xpu {

const ElementType* find_element_type(int number) {
  using Kind = xpu::ElementKind;
  switch (number) {
#define XPU_CASE(number, kind, bits, bytes)                     \
  case number: {                                                \
    static constexpr ElementType type{Kind::kind, bits, bytes}; \
    return &type;                                               \
  }
    XPU_FOR_PJRT_TYPES(XPU_CASE)
#undef XPU_CASE
    case PJRT_Buffer_Type_TOKEN: {
      static constexpr ElementType type{Kind::boolean, 8, 0};
      return &type;
    }
    default:
      return nullptr;
  }
}

}  // namespace xla_xpu
