// The bits of all elements, exclusive-or-ed: of integers as 64 bits, of floats as doubles.
#include <ATen/ops/hash_tensor_meta.h>

#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// Not by a conversion to double: the device may have none.
constexpr const char* kBits = R"(
XPU_FN xpu::u64 bits_of(float x) {
  xpu::u32 bits = xpu::bits_as<xpu::u32>(x), exponent = bits >> 23 & 255u;
  xpu::u64 sign = (xpu::u64)(bits >> 31) << 63, digits = bits & 0x7fffffu;
  if (exponent == 255u) return sign | 0x7ff0000000000000ul | digits << 29;
  if (exponent == 0) {
    if (digits == 0) return sign;
    exponent = 1;
    for (; !(digits & 0x800000u); --exponent) digits <<= 1;
    digits &= 0x7fffffu;
  }
  return sign | (xpu::u64)(exponent + 896u) << 52 | digits << 29;
}
template <class T> XPU_FN xpu::u64 bits_of(T x) {
  if constexpr (xpu::same_type<T, double>)
    return xpu::bits_as<xpu::u64>(x);
  else
    return (xpu::u64)x;
}
)";

void hash_bits(const Tensor& out, const Tensor& self, at::IntArrayRef dims, std::int64_t mode) {
  static const auto& kernel = *new xpu::kernels::Reduction({.name = "hash_tensor",
                                                            .accumulators = {{"xpu::u64", "0"}},
                                                            .map = {"bits_of(a0)"},
                                                            .combine = "s0 ^= r0;",
                                                            .outputs = {"s0"},
                                                            .helpers = kBits,
                                                            .unconverted_inputs = 1});
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  if (self.numel() == 0)
    out.zero_();
  else
    reduce(kernel, {out}, {self}, all_if_empty(dims), {}, self.scalar_type());
}

constexpr auto hash_kernel = [](auto& op, const Tensor& self, at::IntArrayRef dims, bool, std::int64_t mode) {
  hash_bits(op.output(), self, dims, mode);
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_hash_tensor, hash_kernel>(m, "hash_tensor", "hash_tensor.out");
}

}  // namespace torch_xpu
