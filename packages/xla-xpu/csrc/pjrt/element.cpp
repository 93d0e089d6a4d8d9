#include "pjrt/element.h"

#include <pjrt_c_api.h>

#include "pjrt/error.h"

namespace xla_xpu {

std::size_t element_bytes(int type) {
  switch (type) {
    case PJRT_Buffer_Type_TOKEN:
      return 0;
    case PJRT_Buffer_Type_PRED:
    case PJRT_Buffer_Type_S8:
    case PJRT_Buffer_Type_U8:
    case PJRT_Buffer_Type_S4:
    case PJRT_Buffer_Type_U4:
    case PJRT_Buffer_Type_S2:
    case PJRT_Buffer_Type_U2:
    case PJRT_Buffer_Type_S1:
    case PJRT_Buffer_Type_U1:
    case PJRT_Buffer_Type_F8E5M2:
    case PJRT_Buffer_Type_F8E4M3FN:
    case PJRT_Buffer_Type_F8E4M3B11FNUZ:
    case PJRT_Buffer_Type_F8E5M2FNUZ:
    case PJRT_Buffer_Type_F8E4M3FNUZ:
    case PJRT_Buffer_Type_F8E4M3:
    case PJRT_Buffer_Type_F8E3M4:
    case PJRT_Buffer_Type_F8E8M0FNU:
    case PJRT_Buffer_Type_F4E2M1FN:
      return 1;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16:
      return 2;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32:
      return 4;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64:
      return 8;
    case PJRT_Buffer_Type_C128:
      return 16;
    default:
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "xpu: unknown element type number ", type);
  }
}

int sub_byte_bits(int type) {
  switch (type) {
    case PJRT_Buffer_Type_S4:
      return -4;
    case PJRT_Buffer_Type_S2:
      return -2;
    case PJRT_Buffer_Type_S1:
      return -1;
    case PJRT_Buffer_Type_U4:
    case PJRT_Buffer_Type_F4E2M1FN:
      return 4;
    case PJRT_Buffer_Type_U2:
      return 2;
    case PJRT_Buffer_Type_U1:
      return 1;
    default:
      return 0;
  }
}

void fill_bytes(void* data, std::size_t count, int bits) {
  auto* bytes = static_cast<unsigned char*>(data);
  const int mask = (1 << (bits < 0 ? -bits : bits)) - 1, sign = bits < 0 ? (mask + 1) / 2 : 0;
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>(((bytes[i] & mask) ^ sign) - sign);
}

std::size_t array_bytes(int type, std::span<const std::int64_t> dims) {
  std::size_t bytes = element_bytes(type);
  for (auto dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes))
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "an array has a dimension of ", dim,
                     "; sizes must be at least 0 and their product must fit into memory");
  return bytes;
}

std::vector<std::int64_t> row_major_strides(std::size_t item, std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> strides(dims.size());
  auto stride = static_cast<std::int64_t>(item);
  for (std::size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

xpu::DType dtype_of_width(std::size_t item) {
  switch (item) {
    case 1:
      return xpu::DType::u8;
    case 2:
      return xpu::DType::u16;
    case 4:
      return xpu::DType::u32;
    case 8:
      return xpu::DType::u64;
    default:
      return xpu::DType::c128;
  }
}

}  // namespace xla_xpu
