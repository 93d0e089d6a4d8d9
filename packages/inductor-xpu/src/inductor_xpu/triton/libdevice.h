// Functions of CUDA's libdevice that the device library has not, for the kernels that call them.
namespace xpu::libdevice {

enum class Toward { zero, down, up };

template <class T>
XPU_FN T add_rn(T x, T y) {
#pragma clang fp contract(off)
  return x + y;
}
template <class T>
XPU_FN T sub_rn(T x, T y) {
#pragma clang fp contract(off)
  return x - y;
}
template <class T>
XPU_FN T mul_rn(T x, T y) {
#pragma clang fp contract(off)
  return x * y;
}

// The product of the low 24 bits, as signed numbers.
XPU_FN i32 mul24(i32 x, i32 y) {
  return (i32)((u32)((i32)((u32)x << 8) >> 8) * (u32)((i32)((u32)y << 8) >> 8));
}

// Four bytes of the eight of y and x; each nibble of `selector` names one, or, with its high bit, its sign.
XPU_FN i32 byte_perm(i32 x, i32 y, i32 selector) {
  u64 bytes = (u64)(u32)y << 32 | (u32)x;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    u32 nibble = (u32)selector >> (4 * i), byte = (u32)(bytes >> (8 * (nibble & 7))) & 255;
    result |= (nibble & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return (i32)result;
}

// The exponent; the least integer for 0 and NaN.
template <class T>
XPU_FN i32 ilogb(T x) {
  return x != x ? int_min<i32> : to_sat<i32>(logb(x));
}

template <class T>
XPU_FN T powi(T x, i32 n) {
  return pow(x, (T)n);
}

// The sign of a - b, where `a` is `b` rounded.
XPU_FN int compare(float a, double b) {
  return (a > b) - (a < b);
}
template <class F, class I>
XPU_FN int compare(F a, I b) {
  // The first number beyond the integers, which are below it.
  constexpr F limit = (F)(1ull << (width_of<I> - 2)) * (is_signed<I> ? (F)2 : (F)4);
  if (a >= limit) return 1;
  I back = (I)a;
  return (back > b) - (back < b);
}

// The nearest F that is not beyond x in a direction.
template <class F, Toward direction, class T>
XPU_FN F convert(T x) {
  F near = (F)x;
  int side = compare(near, x);
  bool down = direction == Toward::down || (direction == Toward::zero && x > 0);
  if (down ? side > 0 : side < 0) near = nextafter(near, down ? -(F)infinity() : (F)infinity());
  return near;
}

}  // namespace xpu::libdevice
