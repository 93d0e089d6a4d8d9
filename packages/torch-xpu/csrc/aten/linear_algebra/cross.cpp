// Vector products.
#include <ATen/ops/linalg_cross_meta.h>

#include "device/errors.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void cross_into(const Tensor& out, const Tensor& a, const Tensor& b, std::int64_t dim) {
  static const auto& kernel = *new xpu::kernels::Elementwise(
      {.name = "cross",
       .outputs = {"a1 * a5 - a2 * a4", "a2 * a3 - a0 * a5", "a0 * a4 - a1 * a3"},
       .inputs = 6});
  if (out.numel() == 0) return;
  // Each part of the result reads all of the operands.
  auto operand = [&](const Tensor& t) { return (out.is_alias_of(t) ? t.clone() : t).expand(out.sizes()); };
  auto left = operand(a), right = operand(b);
  auto part = [&](const Tensor& t, std::int64_t i) { return view_of(t.select(dim, i)); };
  xpu::Tensor to[] = {part(out, 0), part(out, 1), part(out, 2)};
  xpu::Tensor from[] = {part(left, 0),  part(left, 1),  part(left, 2),
                        part(right, 0), part(right, 1), part(right, 2)};
  translate_errors([&] { kernel(stream_of(out), to, from, {}, to[0].dtype); });
}

constexpr auto cross = [](const auto& op, const Tensor& a, const Tensor& b, std::int64_t dim) {
  cross_into(op.output(), a, b, dim);
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_linalg_cross, cross>(m, "linalg_cross", "linalg_cross.out");
}

}  // namespace torch_xpu
