#include "kernels/dtype_text.h"

#include "xpu/error.h"

namespace xpu::kernels {

namespace {

struct Types {
  const char *storage, *value, *math;
};
constexpr Types types[] = {
#define XPU_TYPES(dtype, name, kind, bytes, storage, value, math) {storage, value, math},
    XPU_FOR_DTYPES(XPU_TYPES)
#undef XPU_TYPES
};

const Types& types_of(DType dtype) {
  expect<Unsupported>(size_of(dtype), "kernels: elements of ", name_of(dtype),
                      " are packed two to a byte and have no address; copy to i8 or u8 first");
  expect<Unsupported>(dtype != DType::f8e8m0, "kernels: only scales of matrix products are f8e8m0");
  return types[static_cast<std::size_t>(dtype)];
}

}  // namespace

const char* value_type(DType dtype) {
  return types_of(dtype).value;
}
const char* storage_type(DType dtype) {
  return types_of(dtype).storage;
}
const char* math_type(DType dtype) {
  return types_of(dtype).math;
}
const char* stored_type(DType dtype) {
  return types[static_cast<std::size_t>(dtype)].storage;
}

DType bits_type(DType dtype) {
  return size_of(dtype) ? dtype_of_width(size_of(dtype)) : dtype;
}

}  // namespace xpu::kernels
