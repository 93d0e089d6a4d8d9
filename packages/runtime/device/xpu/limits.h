// The ends of a type's order, which change nothing in a minimum or maximum.
#ifndef XPU_DEVICE_LIMITS_H
#define XPU_DEVICE_LIMITS_H
#include <xpu/convert.h>

namespace xpu {

template <class T> XPU_FN constexpr T lowest() {
  if constexpr (is_bool<T>) return false;
  else if constexpr (is_float<T>) return (T)-infinity();
  else return int_min<T>;
}

template <class T> XPU_FN constexpr T highest() {
  if constexpr (is_bool<T>) return true;
  else if constexpr (is_float<T>) return (T)infinity();
  else return int_max<T>;
}

XPU_FN bool maximum(bool a, bool b) { return a || b; }
XPU_FN bool minimum(bool a, bool b) { return a && b; }

}  // namespace xpu

#endif
