// Elements of tensors as numbers: loads and stores by element index for every storage type, packed 4-bit ones too,
// and where the element of a broadcast operand lies.
#ifndef XPU_DEVICE_ELEMENT_H
#define XPU_DEVICE_ELEMENT_H
#include <xpu/convert.h>
#include <xpu/math.h>

namespace xpu {

struct i4x2 { u8 bits; };
struct u4x2 { u8 bits; };

template <class To, class T> XPU_FN To load_as(global<const T> p, i64 i) { return to<To>(p[i]); }
template <class To> XPU_FN To load_as(global<const i4x2> p, i64 i) {
  u8 b = p[i >> 1].bits;
  return to<To>(i & 1 ? int4_high(b) : int4_low(b));
}
template <class To> XPU_FN To load_as(global<const u4x2> p, i64 i) {
  u8 b = p[i >> 1].bits;
  return to<To>(i & 1 ? uint4_high(b) : uint4_low(b));
}

// A float that becomes an integer is rounded to nearest even and saturates, as quantization asks.
template <class T, class From> XPU_FN T stored(From x) {
  if constexpr (is_float<From> && !is_float<T> && !is_bool<T>) return to_sat<T>(__spirv_ocl_rint(x));
  else return to<T>(x);
}

// `share` neighbors along a dimension use one element of the operand; a stride of 0 broadcasts.
template <int N> struct Broadcast {
  i64 stride[N], share[N];
  XPU_FN i64 at(const Array<i64, N>& index) const {
    i64 offset = 0;
    for (int d = 0; d < N; ++d) offset += (share[d] == 1 ? index.data[d] : index.data[d] / share[d]) * stride[d];
    return offset;
  }
};

}  // namespace xpu

#endif
