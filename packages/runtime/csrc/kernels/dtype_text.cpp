#include "kernels/dtype_text.h"

#include "xpu/error.h"

namespace xpu::kernels {

const char* value_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::u8:
      return "xpu::u8";
    case DType::i8:
      return "xpu::i8";
    case DType::u16:
      return "xpu::u16";
    case DType::i16:
      return "xpu::i16";
    case DType::u32:
      return "xpu::u32";
    case DType::i32:
      return "xpu::i32";
    case DType::u64:
      return "xpu::u64";
    case DType::i64:
      return "xpu::i64";
    case DType::f16:
      return "xpu::half";
    case DType::bf16:
      return "xpu::bf16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::c64:
      return "xpu::Complex<float>";
    case DType::c128:
      return "xpu::Complex<double>";
    case DType::f8e4m3:
      return "xpu::f8e4m3";
    case DType::f8e5m2:
      return "xpu::f8e5m2";
    case DType::u4:
    case DType::i4:
      break;
  }
  fail<Unsupported>("kernels: elements of ", name_of(dtype),
                    " are packed two to a byte and have no address; copy to i8 or u8 first");
}

const char* storage_type(DType dtype) {
  return dtype == DType::boolean ? "xpu::u8" : value_type(dtype);
}

const char* math_type(DType dtype) {
  bool narrow = is_float(dtype) && dtype != DType::f64;
  return narrow ? "float" : value_type(dtype);
}

DType bits_type(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    case 8:
      return DType::u64;
    default:
      return dtype;
  }
}

}  // namespace xpu::kernels
