// Reciprocals of numbers by which kernels divide: device/xpu/divide.h, which has the formula and its proof.
#pragma once

#include <bit>
#include <cstdint>

namespace xpu::kernels {

/// A kernel's argument; the device library has the same struct.
struct Reciprocal {
  std::uint32_t multiplier, shift;
};

/// Requires 1 <= divisor <= 2^31.
constexpr Reciprocal reciprocal_of(std::uint32_t divisor) {
  auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  auto multiplier = ((std::uint64_t{1} << (31 + shift)) + divisor - 1) / divisor;
  return {static_cast<std::uint32_t>(multiplier), shift};
}

}  // namespace xpu::kernels
