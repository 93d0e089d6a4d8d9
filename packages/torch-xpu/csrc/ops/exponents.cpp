#include "ops/exponents.h"

#include <ATen/ops/empty_like.h>

#include "ops/elementwise.h"
#include "ops/tensor.h"

namespace torch_xpu {

using at::Tensor;
using xpu::kernels::Elementwise;

Tensor from_exponents(const Tensor& exponents) {
  static const auto& kernel = *new Elementwise(
      {.name = "from_exponents",
       .outputs = {"xpu::bits_as<float>(a0 == 0 ? 0x00400000u : a0 == 255 ? 0x7fc00000u : (u32)a0 << 23)"},
       .own_type = 1});
  auto numbers = at::empty_like(exponents, exponents.options().dtype(at::kFloat));
  elementwise(kernel, {numbers}, {exponents.view(at::kByte)}, {}, at::kFloat);
  return numbers;
}

void to_exponents(const Tensor& exponents, const Tensor& numbers) {
  // Half of what a mantissa adds rounds up, except below the least normal number, which has no bit before it.
  static const auto& kernel = *new Elementwise(
      {.name = "to_exponents",
       .outputs = {"(xpu::u8)(e + (e != 255u && (m > half || (m == half && e > 0u))))"},
       .body = "u32 bits = xpu::bits_as<u32>(a0), e = bits >> 23 & 255u, m = bits & 0x7fffffu;"
               "constexpr u32 half = 0x400000u;"});
  elementwise(kernel, {exponents.view(at::kByte)}, {numbers}, {}, at::kFloat);
}

Tensor movable(const Tensor& t) {
  return !dtype_if_known(t.scalar_type()) && t.element_size() == 1 ? t.view(at::kByte) : t;
}

}  // namespace torch_xpu
