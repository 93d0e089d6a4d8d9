// Gated linear units: one half of a dimension times the sigmoid of the other, and their derivatives in both
// modes.
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/glu_meta.h>

#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/pointwise.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;

constexpr auto glu_kernel = [](at::TensorIteratorBase& iter, auto&&...) {
  static const Pointwise kernel("glu", {.real = {"a / ((T)1 + xpu::exp(-b))"}, .headers = {"exp"}});
  kernel(iter);
};
Tensor& glu_backward_out(const Tensor& grad, const Tensor& self, std::int64_t dim, Tensor& out) {
  static const auto& kernel = *new Elementwise({.name = "glu_backward",
                                                .outputs = {"a0 * gate", "((T)1 - gate) * gate * a0 * a1"},
                                                .inputs = 3,
                                                .body = "T gate = (T)1 / ((T)1 + xpu::exp(-a2));",
                                                .headers = {"math", "exp"}});
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, out);
  TORCH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(self.size(dim) % 2 == 0, "Halving dimension must be even, but dimension ", dim, " is size ",
              self.size(dim));
  at::native::resize_output(out, self.sizes());
  auto half = self.size(dim) / 2;
  elementwise(kernel, {out.narrow(dim, 0, half), out.narrow(dim, half, half)},
              {grad, self.narrow(dim, 0, half), self.narrow(dim, half, half)});
  return out;
}
Tensor glu_backward(const Tensor& grad, const Tensor& self, std::int64_t dim) {
  auto guard = guard_for(self);
  auto out = at::empty_like(self);
  return glu_backward_out(grad, self, dim, out);
}

struct Halves {
  Tensor first, second;
  Halves(const Tensor& t, std::int64_t dim) {
    dim = at::maybe_wrap_dim(dim, t.dim());
    auto half = t.size(dim) / 2;
    first = t.narrow(dim, 0, half);
    second = t.narrow(dim, half, half);
  }
};

Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, std::int64_t dim) {
  static const auto& kernel = *new Elementwise({.name = "glu_jvp",
                                                .outputs = {"a2 * gate + a0 * a3 * ((T)1 - gate)"},
                                                .inputs = 4,
                                                .body = "T gate = (T)1 / ((T)1 + xpu::exp(-a1));",
                                                .headers = {"math", "exp"}});
  auto guard = guard_for(x);
  auto out = at::empty_like(glu);
  Halves of_x(x, dim), of_dx(dx, dim);
  elementwise(kernel, {out}, {glu, of_x.second, of_dx.first, of_dx.second});
  return out;
}

Tensor glu_backward_jvp(const Tensor& grad_x, const Tensor& grad, const Tensor& x, const Tensor& dgrad,
                        const Tensor& dx, std::int64_t dim) {
  static const auto& kernel =
      *new Elementwise({.name = "glu_backward_jvp",
                        .outputs = {"a1 * gate + a0 * slope * a5",
                                    "slope * (a1 * a2 + a0 * a4 + a0 * a2 * a5 * ((T)1 - (T)2 * gate))"},
                        .inputs = 6,
                        .body = "T gate = (T)1 / ((T)1 + xpu::exp(-a3)), slope = gate * ((T)1 - gate);",
                        .headers = {"math", "exp"}});
  auto guard = guard_for(x);
  auto out = at::empty_like(grad_x);
  Halves to(out, dim), of_x(x, dim), of_dx(dx, dim);
  elementwise(kernel, {to.first, to.second},
              {grad, dgrad, of_x.first, of_x.second, of_dx.first, of_dx.second});
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_glu, glu_kernel>(m, "glu", "glu.out");
  m.impl("glu_backward", glu_backward);
  m.impl("glu_backward.grad_input", glu_backward_out);
  m.impl("glu_jvp", glu_jvp);
  m.impl("glu_backward_jvp", glu_backward_jvp);
}

}  // namespace torch_xpu
