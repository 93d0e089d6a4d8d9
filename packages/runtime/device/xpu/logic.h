// Comparisons, logic and bit operations as functions, for tables of operations.
#ifndef XPU_DEVICE_LOGIC_H
#define XPU_DEVICE_LOGIC_H
#include <xpu/core.h>

namespace xpu {

template <class T> XPU_FN bool eq(T a, T b) { return a == b; }
template <class T> XPU_FN bool ne(T a, T b) { return a != b; }
template <class T> XPU_FN bool lt(T a, T b) { return a < b; }
template <class T> XPU_FN bool le(T a, T b) { return a <= b; }
template <class T> XPU_FN bool gt(T a, T b) { return a > b; }
template <class T> XPU_FN bool ge(T a, T b) { return a >= b; }
template <class T> XPU_FN bool logical_and(T a, T b) { return (bool)a && (bool)b; }
template <class T> XPU_FN bool logical_or(T a, T b) { return (bool)a || (bool)b; }
template <class T> XPU_FN bool logical_xor(T a, T b) { return (bool)a != (bool)b; }
template <class T> XPU_FN bool logical_not(T a) { return !(bool)a; }
template <class T> XPU_FN T bit_and(T a, T b) { return (T)(a & b); }
template <class T> XPU_FN T bit_or(T a, T b) { return (T)(a | b); }
template <class T> XPU_FN T bit_xor(T a, T b) { return (T)(a ^ b); }
template <class T> XPU_FN T bit_not(T a) {
  if constexpr (same_type<T, bool>) return !a;
  else return (T)~a;
}

}  // namespace xpu

#endif
