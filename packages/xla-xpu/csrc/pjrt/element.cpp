#include "pjrt/element.h"

#include <pjrt_c_api.h>

#include "exec/element_type.h"
#include "pjrt/error.h"

namespace xla_xpu {

namespace {

const ElementType& element_type(int number) {
  auto* found = find_element_type(number);
  if (!found) fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "xpu: unknown element type number ", number);
  return *found;
}

}  // namespace

std::size_t element_bytes(int type) {
  return element_type(type).bytes;
}

int sub_byte_bits(int type) {
  auto& element = element_type(type);
  if (element.bits >= 8 || element.kind == xpu::ElementKind::boolean) return 0;
  return element.kind == xpu::ElementKind::signed_integer ? -element.bits : element.bits;
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

}  // namespace xla_xpu
