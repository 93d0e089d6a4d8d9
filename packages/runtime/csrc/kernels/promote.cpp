#include "xpu/kernels/elementwise.h"

#include <utility>

namespace xpu::kernels {
namespace {

bool is_fp8(DType t) {
  return is_float(t) && size_of(t) == 1;
}
bool is_signed(DType t) {
  return kind_of(t) == ElementKind::signed_integer;
}

int category(DType t) {
  return is_complex(t) ? 3 : is_float(t) ? 2 : is_integer(t) ? 1 : 0;
}

DType promote_floats(DType a, DType b) {
  if (is_fp8(a)) return is_fp8(b) ? DType::f32 : b;
  if (is_fp8(b)) return a;
  if (size_of(a) == size_of(b)) return DType::f32;  // f16 and bf16
  return size_of(a) > size_of(b) ? a : b;
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return size_of(a) >= size_of(b) ? a : b;
  auto [with_sign, without] = is_signed(a) ? std::pair(a, b) : std::pair(b, a);
  if (size_of(with_sign) > size_of(without)) return with_sign;
  // The next wider signed type holds both; beside u64 there is none.
  switch (size_of(without)) {
    case 0:
      return DType::i8;
    case 1:
      return DType::i16;
    case 2:
      return DType::i32;
    default:
      return DType::i64;
  }
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  int ca = category(a), cb = category(b);
  if (ca == 1 && cb == 1) return promote_integers(a, b);
  if (ca == 2 && cb == 2) return promote_floats(a, b);
  if (ca == 3 && cb == 3) return DType::c128;
  auto [wide, narrow] = ca > cb ? std::pair(a, b) : std::pair(b, a);
  return wide == DType::c64 && narrow == DType::f64 ? DType::c128 : wide;
}

}  // namespace xpu::kernels
