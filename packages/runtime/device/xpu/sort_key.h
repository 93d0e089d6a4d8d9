// Unsigned keys whose order is the order of numbers: what radix sorts and selections look at.
//
// Three orders of floats. In two of them every NaN is equal and above infinity, as numpy and PyTorch have it: kNumbers
// has -0 equal to +0, and a key stands for several values; kValues puts -0 before +0, so that a key alone gives its
// value back. kTotal tells all bit patterns apart, negative NaNs below -infinity (IEEE's totalOrder, StableHLO).
#ifndef XPU_DEVICE_SORT_KEY_H
#define XPU_DEVICE_SORT_KEY_H
#include <xpu/integer.h>

namespace xpu {

enum SortOrder { kNumbers, kValues, kTotal };

template <int BYTES> struct KeyOf;
template <> struct KeyOf<1> { using type = u8; };
template <> struct KeyOf<2> { using type = u16; };
template <> struct KeyOf<4> { using type = u32; };
template <> struct KeyOf<8> { using type = u64; };
template <class T> using sort_key = typename KeyOf<(int)sizeof(T)>::type;

template <class T> XPU_FN bool is_nan_bits(sort_key<T> bits) {
  using K = sort_key<T>;
  constexpr K kSign = (K)((K)1 << (width_of<K> - 1));
  if constexpr (same_type<T, f8e4m3>) return (bits & 0x7fu) == 0x7fu;
  else if constexpr (same_type<T, f8e5m2>) return (K)(bits & ~kSign) > (K)0x7c;
  else if constexpr (same_type<T, half>) return (K)(bits & ~kSign) > (K)0x7c00;
  else if constexpr (same_type<T, bf16>) return (K)(bits & ~kSign) > (K)0x7f80;
  else if constexpr (same_type<T, float>) return (K)(bits & ~kSign) > (K)0x7f800000;
  else return (K)(bits & ~kSign) > (K)0x7ff0000000000000;
}

// The key of the bits of a T. It gives the bits back unless `merged` says that it stands for several patterns.
template <class T, SortOrder Order> XPU_FN sort_key<T> key_from_bits(sort_key<T> bits) {
  using K = sort_key<T>;
  constexpr K kSign = (K)((K)1 << (width_of<K> - 1));
  if constexpr (is_bool<T>) {
    return (K)(bits != 0);
  } else if constexpr (is_float<T>) {
    if constexpr (Order == kNumbers) bits = (K)(bits & ~kSign) == 0 ? (K)0 : bits;
    if constexpr (Order != kTotal) bits = is_nan_bits<T>(bits) ? (K)(kSign - 1) : bits;
    return bits & kSign ? (K)~bits : (K)(bits | kSign);
  } else if constexpr (is_signed<T>) {
    return (K)(bits ^ kSign);
  } else {
    return bits;
  }
}

template <class T, SortOrder Order> XPU_FN bool merged(sort_key<T> key) {
  using K = sort_key<T>;
  constexpr K kSign = (K)((K)1 << (width_of<K> - 1));
  if constexpr (is_float<T> && Order == kNumbers) return key == kSign || key == (K)~(K)0;
  else return false;
}

template <class T> XPU_FN sort_key<T> bits_from_key(sort_key<T> key) {
  using K = sort_key<T>;
  constexpr K kSign = (K)((K)1 << (width_of<K> - 1));
  if constexpr (is_bool<T>) return key;
  else if constexpr (is_float<T>) return key & kSign ? (K)(key & ~kSign) : (K)~key;
  else if constexpr (is_signed<T>) return (K)(key ^ kSign);
  else return key;
}

// Larger for what IEEE's totalOrder puts later.
template <class T> XPU_FN sort_key<T> total_order(T x) {
  return key_from_bits<T, kTotal>(bits_as<sort_key<T>>(x));
}

}  // namespace xpu

#endif
