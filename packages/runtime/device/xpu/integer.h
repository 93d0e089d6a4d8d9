// Integers: the operations whose result C++ leaves undefined, or gives another rule than the
// frameworks do. T is any of i8 i16 i32 i64 u8 u16 u32 u64.
//
// Nothing here traps: division by zero gives what each function says, and the most negative value
// divided by -1 is itself.
#ifndef XPU_DEVICE_INTEGER_H
#define XPU_DEVICE_INTEGER_H
#include <xpu/convert.h>

namespace xpu {

template <class T> struct Unsigned;
template <> struct Unsigned<i8> { using type = u8; };
template <> struct Unsigned<i16> { using type = u16; };
template <> struct Unsigned<i32> { using type = u32; };
template <> struct Unsigned<i64> { using type = u64; };
template <> struct Unsigned<u8> { using type = u8; };
template <> struct Unsigned<u16> { using type = u16; };
template <> struct Unsigned<u32> { using type = u32; };
template <> struct Unsigned<u64> { using type = u64; };
template <class T> using as_unsigned = typename Unsigned<T>::type;

template <class T> constexpr bool is_int = !is_float<T> && !is_bool<T>;
template <class T> using if_int = enable_if<is_int<T>, T>;

// Truncated division (C, StableHLO). By zero: -1, that is all bits set (StableHLO).
template <class T> XPU_FN if_int<T> trunc_div(T a, T b) {
  bool zero = b == 0, wraps = is_signed<T> && a == int_min<T> && b == (T)-1;
  T q = (T)(a / (zero || wraps ? (T)1 : b));
  return zero ? (T)-1 : q;
}

// The remainder of truncated division: the dividend's sign. By zero: the dividend (StableHLO).
template <class T> XPU_FN if_int<T> fmod(T a, T b) {
  bool zero = b == 0, wraps = is_signed<T> && b == (T)-1;
  T r = (T)(a % (zero || wraps ? (T)1 : b));
  return zero ? a : r;
}

// Python's // and %. By zero: -1 and the dividend.
template <class T> XPU_FN if_int<T> floor_div(T a, T b) {
  T q = trunc_div(a, b);
  if constexpr (is_signed<T>) q = (T)(q - (b != 0 && fmod(a, b) != 0 && (a < 0) != (b < 0)));
  return q;
}
template <class T> XPU_FN if_int<T> remainder(T a, T b) {
  T r = fmod(a, b);
  if constexpr (is_signed<T>) r = b != 0 && r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
  return r;
}

// Square and multiply, wrapping. A negative exponent gives 1 for 1, +-1 for -1, otherwise 0.
template <class T> XPU_FN if_int<T> pow(T base, T exponent) {
  T odd = (T)(exponent & 1);
  as_unsigned<T> b = (as_unsigned<T>)base, r = 1;
  as_unsigned<T> e = exponent < 0 ? (as_unsigned<T>)0 : (as_unsigned<T>)exponent;
  for (; e; e >>= 1) {
    r = (as_unsigned<T>)(e & 1 ? (u64)r * b : r);
    b = (as_unsigned<T>)((u64)b * b);
  }
  T negative = base == 1 ? (T)1 : base == (T)-1 ? (odd ? (T)-1 : (T)1) : (T)0;
  return exponent < 0 ? negative : (T)r;
}

// Shifts by a negative count or by the width and more: every bit has left.
template <class T> XPU_FN if_int<T> shift_left(T a, T n) {
  bool out = (u64)n >= (u64)width_of<T>;
  return out ? (T)0 : (T)((u64)a << ((u64)n & (width_of<T> - 1)));
}
template <class T> XPU_FN if_int<T> shift_right(T a, T n) {  // arithmetic for signed types
  u64 count = (u64)n >= (u64)width_of<T> ? (u64)(width_of<T> - 1) : (u64)n;
  if constexpr (is_signed<T>) return (T)(a >> count);
  else return (u64)n >= (u64)width_of<T> ? (T)0 : (T)(a >> count);
}
template <class T> XPU_FN if_int<T> shift_right_logical(T a, T n) {
  return (T)shift_right((as_unsigned<T>)a, (as_unsigned<T>)n);
}

template <class T> XPU_FN if_int<T> abs(T a) {
  if constexpr (is_signed<T>) return (T)(a < 0 ? (T)(0 - (as_unsigned<T>)a) : a);
  else return a;
}
template <class T> XPU_FN if_int<T> neg(T a) { return (T)(0 - (as_unsigned<T>)a); }
template <class T> XPU_FN if_int<T> sign(T a) { return (T)((a > 0) - (a < 0)); }
template <class T> XPU_FN if_int<T> square(T a) { return (T)((u64)a * (u64)a); }
template <class T> XPU_FN if_int<T> maximum(T a, T b) { return a > b ? a : b; }
template <class T> XPU_FN if_int<T> minimum(T a, T b) { return a < b ? a : b; }
template <class T> XPU_FN if_int<T> clamp(T a, T low, T high) { return minimum(maximum(a, low), high); }

template <class T> XPU_FN if_int<T> popcount(T a) { return (T)__spirv_ocl_popcount((u64)(as_unsigned<T>)a); }
// The width for 0, as StableHLO's count_leading_zeros.
template <class T> XPU_FN if_int<T> clz(T a) {
  return (T)(__spirv_ocl_clz((u64)(as_unsigned<T>)a) - (64 - width_of<T>));
}
template <class T> XPU_FN if_int<T> ctz(T a) {
  u64 bits = (u64)(as_unsigned<T>)a;
  T n = (T)__spirv_ocl_popcount((bits & (0 - bits)) - 1);
  return a == 0 ? (T)width_of<T> : n;
}

// The position of the lowest set bit counted from 1, 0 for 0; all bits in the opposite order.
template <class T> XPU_FN if_int<T> ffs(T a) { return a == 0 ? (T)0 : (T)(ctz(a) + 1); }
template <class T> XPU_FN if_int<T> bit_reverse(T a) {
  // A byte at a time by multiplication: of the usual exchange of halves the compiler makes an
  // instruction that its SPIR-V writer does not know.
  u64 v = (u64)(as_unsigned<T>)a, r = 0;
  for (int i = 0; i < (int)sizeof(T); ++i) {
    u64 byte = ((v >> (8 * i)) & 255) * 0x0202020202ul & 0x010884422010ul;
    r = (r << 8) | (byte % 1023);
  }
  return (T)r;
}

// The mean rounded down, and up, without overflow; the distance.
template <class T> XPU_FN if_int<T> mean_floor(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }
template <class T> XPU_FN if_int<T> mean_ceil(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }
template <class T> XPU_FN as_unsigned<T> abs_difference(T a, T b) {
  return (as_unsigned<T>)(a > b ? (as_unsigned<T>)a - (as_unsigned<T>)b : (as_unsigned<T>)b - (as_unsigned<T>)a);
}

// Greatest common divisor, not negative (except that of the most negative value); gcd(0, 0) is 0.
template <class T> XPU_FN if_int<T> gcd(T a, T b) {
  as_unsigned<T> x = (as_unsigned<T>)abs(a), y = (as_unsigned<T>)abs(b);
  while (y != 0) {
    as_unsigned<T> r = (as_unsigned<T>)(x % y);
    x = y;
    y = r;
  }
  return (T)x;
}
// The lowest bits of the least common multiple where it does not fit.
template <class T> XPU_FN if_int<T> lcm(T a, T b) {
  as_unsigned<T> x = (as_unsigned<T>)abs(a), y = (as_unsigned<T>)abs(b), g = (as_unsigned<T>)gcd(a, b);
  return g == 0 ? (T)0 : (T)((u64)(as_unsigned<T>)(x / g) * y);
}

// The high half of the product.
template <class T> XPU_FN if_int<T> mul_high(T a, T b) {
  if constexpr (sizeof(T) == 8 && is_signed<T>) return (T)__spirv_ocl_s_mul_hi(a, b);
  else if constexpr (sizeof(T) == 8) return (T)__spirv_ocl_u_mul_hi(a, b);
  else if constexpr (is_signed<T>) return (T)(((i64)a * (i64)b) >> width_of<T>);
  else return (T)(((u64)a * (u64)b) >> width_of<T>);
}

}  // namespace xpu

#endif
