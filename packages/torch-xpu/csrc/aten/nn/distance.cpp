// Distances between rows, and rows held to a norm.
#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/renorm_meta.h>
#include <ATen/ops/triu_indices.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using xpu::kernels::Elementwise;
using xpu::kernels::Reduction;

// The norm of a0 - a1: p0 is its order where it has no text of its own.
const Reduction& difference_norm(double p) {
  static const auto make = [](const char* name, const char* map, const char* combine, const char* end) {
    return new Reduction({.name = name,
                          .accumulators = {{"T", "0"}},
                          .map = {map},
                          .combine = combine,
                          .outputs = {end},
                          .inputs = 2,
                          .scalars = 1,
                          .headers = {"math", "exp"}});
  };
  constexpr const char* add = "s0 += r0;";
  static const Reduction *zero = make("distance0", "a0 == a1 ? (T)0 : (T)1", add, "s0"),
                         *one = make("distance1", "xpu::abs(a0 - a1)", add, "s0"),
                         *two = make("distance2", "(a0 - a1) * (a0 - a1)", add, "xpu::sqrt(s0)"),
                         *infinity =
                             make("distance_inf", "xpu::abs(a0 - a1)", "s0 = xpu::maximum(s0, r0);", "s0"),
                         *other = make("distance", "xpu::pow(xpu::abs(a0 - a1), p0)", add,
                                       "xpu::pow(s0, (T)1 / p0)");
  return p == 0 ? *zero : p == 1 ? *one : p == 2 ? *two : std::isinf(p) ? *infinity : *other;
}

// The derivative of the distance a2 between a0 and a1 by a0, times the gradient a3, summed.
const Reduction& gradient_sum(double p) {
  static const auto make = [](const char* name, const char* map) {
    return new Reduction({.name = name,
                          .accumulators = {{"T", "0"}},
                          .map = {map},
                          .combine = "s0 += r0;",
                          .outputs = {"s0"},
                          .inputs = 4,
                          .scalars = 1,
                          .headers = {"math", "exp"}});
  };
  static const Reduction *one = make("distance1_backward", "a3 * xpu::sign(a0 - a1)"),
                         *two = make("distance2_backward", "a2 == (T)0 ? (T)0 : a3 * (a0 - a1) / a2"),
                         *infinity = make("distance_inf_backward",
                                          "xpu::abs(a0 - a1) == a2 ? a3 * xpu::sign(a0 - a1) : (T)0"),
                         *other = make("distance_backward",
                                       "a2 == (T)0 || a0 == a1 ? (T)0 : a3 * xpu::sign(a0 - a1) * "
                                       "xpu::pow(xpu::abs(a0 - a1) / a2, p0 - (T)1)");
  return p == 1 ? *one : p == 2 ? *two : std::isinf(p) ? *infinity : *other;
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t>) {
  auto guard = guard_for(x1, x2);
  check_one_device(x1, x2);
  TORCH_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(),
              "D, X2 got: ", x2.dim(), "D");
  TORCH_CHECK(x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  TORCH_CHECK(p >= 0, "cdist only supports non-negative p values");
  auto a = x1.unsqueeze(-2), b = x2.unsqueeze(-3);
  auto shape = at::infer_size(a.sizes(), b.sizes());
  auto out = at::empty(IntArrayRef(shape).slice(0, shape.size() - 1), x1.options());
  reduce(difference_norm(p), {out}, {a.expand(shape), b.expand(shape)}, IntArrayRef(-1), {p});
  return out;
}

Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                      const Tensor& distance) {
  auto guard = guard_for(grad, x1, x2);
  check_one_device(grad, x1, x2, distance);
  auto a = x1.unsqueeze(-2), b = x2.unsqueeze(-3);
  auto shape = at::infer_size(a.sizes(), b.sizes());
  at::DimVector result(shape);
  result.erase(result.end() - 2);
  auto out = at::empty(result, x1.options());
  if (p == 0 || out.numel() == 0 || x2.numel() == 0) return out.zero_();
  auto each = [&](const Tensor& t) { return t.unsqueeze(-1).expand(shape); };
  reduce(gradient_sum(p), {out}, {a.expand(shape), b.expand(shape), each(distance), each(grad)},
         IntArrayRef(-2), {p});
  return out;
}

// The distances of row i to the later rows, row by row.
Tensor pdist(const Tensor& self, double p) {
  auto guard = guard_for(self);
  TORCH_CHECK(self.is_contiguous(), "_pdist_forward requires contiguous input");
  auto n = self.size(0);
  if (n <= 1) return at::empty({0}, self.options());
  if (self.size(1) == 0) return at::empty({n * (n - 1) / 2}, self.options()).zero_();
  auto pairs = at::triu_indices(n, n, 1, self.options().dtype(at::kLong));
  auto out = at::empty({pairs.size(1)}, self.options());
  reduce(difference_norm(p), {out}, {self.index_select(0, pairs[0]), self.index_select(0, pairs[1])},
         IntArrayRef(1), {p});
  return out;
}
Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& distance) {
  auto guard = guard_for(grad, self);
  auto n = self.size(0);
  auto out = at::zeros_like(self, at::MemoryFormat::Contiguous);
  if (n <= 1 || p == 0 || self.numel() == 0) return out;
  // As distances of all to all: each pair stands twice.
  auto pairs = at::triu_indices(n, n, 1, self.options().dtype(at::kLong));
  auto flat = pairs[0] * n + pairs[1], mirrored = pairs[1] * n + pairs[0];
  auto square = [&](const Tensor& t) {
    Tensor all = at::zeros({n * n}, self.options()), values = t.contiguous();
    all.scatter_(0, flat, values);
    all.scatter_(0, mirrored, values);
    return all.view({n, n});
  };
  return cdist_backward(square(grad), self, self, p, square(distance));
}

void hold_to_norm(const Tensor& out, const Tensor& self, double p, std::int64_t dim, const Scalar& largest) {
  static const auto& shrink = *new Elementwise({.name = "renorm",
                                                .outputs = {"a1 > p0 ? a0 * (p0 / (a1 + (T)1e-7f)) : a0"},
                                                .inputs = 2,
                                                .scalars = 1});
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::DimVector others;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) others.push_back(d);
  std::optional<at::ScalarType> type;
  if (!self.is_complex()) type = statistics_type(self);
  auto norms = at::linalg_vector_norm(self, p, others, true, type);
  if (!self.is_complex()) return elementwise(shrink, {out}, {self, norms}, {largest}, type);
  auto factors = at::empty(norms.sizes(), norms.options());
  auto one = at::empty({}, norms.options()).fill_(1);
  elementwise(shrink, {factors}, {one, norms}, {largest}, norms.scalar_type());
  out.copy_(self.mul(factors));
}
constexpr auto renorm = [](auto& op, const Tensor& self, const Scalar& p, std::int64_t dim,
                           const Scalar& largest) {
  hold_to_norm(op.output(), self, p.toDouble(), dim, largest);
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_renorm, renorm>(m, "renorm", "renorm.out", "renorm_");
  m.impl("_cdist_forward", cdist);
  m.impl("_cdist_backward", cdist_backward);
  m.impl("_pdist_forward", pdist);
  m.impl("_pdist_backward", pdist_backward);
}

}  // namespace torch_xpu
