// A number that the host passes to a kernel or a fill.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "xpu/abi.h"
#include "xpu/tensor.h"

namespace xpu {

/// Keeps integers exactly; converted to the kernel's type when it is passed.
class Scalar {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {
    if constexpr (std::is_floating_point_v<T>)
      re_ = value;
    else
      integral_ = true, integer_ = static_cast<std::uint64_t>(value), re_ = static_cast<double>(value);
  }
  Scalar(std::complex<double> value) : re_(value.real()), im_(value.imag()) {}

  double real() const { return re_; }
  double imag() const { return im_; }
  bool integral() const { return integral_; }
  /// Two's complement bits; a floating value truncates, saturating as the device's conversions do.
  XPU_API std::uint64_t integer_bits() const;

 private:
  bool integral_ = false;
  std::uint64_t integer_ = 0;
  double re_ = 0, im_ = 0;
};

}  // namespace xpu
