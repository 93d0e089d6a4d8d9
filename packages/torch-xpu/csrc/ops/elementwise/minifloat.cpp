#include "ops/elementwise/minifloat.h"

#include <ATen/ops/empty_like.h>

#include "ops/elementwise/elementwise.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;

// Rounds to a power of two. A tie rounds up, except below the smallest normal number.
constexpr const char* exponent_of = R"(
XPU_FN u8 narrowed(float x) {
  u32 bits = xpu::bits_as<u32>(x), e = bits >> 23 & 255u, m = bits & 0x7fffffu;
  constexpr u32 half = 0x400000u;
  return (u8)(e + (e != 255u && (m > half || (m == half && e > 0u))));
}
)";

struct Kernels {
  Elementwise widen, narrow;

  Kernels(std::string name, const char* type, const char* narrowed = nullptr)
      : widen({.name = "widen_" + name,
               .outputs = {"widened(a0)"},
               .headers = {"minifloat"},
               .helpers = c10::str("XPU_FN float widened(u8 bits) { ", type,
                                   " x; x.bits = bits; return (float)x; }\n"),
               .unconverted_inputs = 1}),
        narrow({.name = "narrow_" + name,
                .outputs = {"narrowed(a0)"},
                .headers = {"minifloat"},
                .helpers = narrowed
                               ? std::string(narrowed)
                               : c10::str("XPU_FN u8 narrowed(float x) { return ", type, "(x).bits; }\n")}) {}
};

const Kernels& kernels_of(at::ScalarType type) {
  static const auto& exponents = *new Kernels("e8m0fnu", "f8e8m0", exponent_of);
  static const auto& fine = *new Kernels("e4m3fnuz", "f8e4m3fnuz");
  static const auto& wide = *new Kernels("e5m2fnuz", "f8e5m2fnuz");
  return type == at::kFloat8_e8m0fnu ? exponents : type == at::kFloat8_e4m3fnuz ? fine : wide;
}

}  // namespace

Tensor minifloat_to_f32(const Tensor& small) {
  auto numbers = at::empty_like(small, small.options().dtype(at::kFloat));
  elementwise(kernels_of(small.scalar_type()).widen, {numbers}, {small.view(at::kByte)}, {}, at::kFloat);
  return numbers;
}

void f32_to_minifloat(const Tensor& small, const Tensor& numbers) {
  elementwise(kernels_of(small.scalar_type()).narrow, {small.view(at::kByte)}, {numbers}, {}, at::kFloat);
}

Tensor with_runtime_dtype(const Tensor& t) {
  return !dtype_if_known(t.scalar_type()) && t.element_size() == 1 ? t.view(at::kByte) : t;
}

}  // namespace torch_xpu
