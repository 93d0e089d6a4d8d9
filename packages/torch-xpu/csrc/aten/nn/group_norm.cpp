// Group normalization, and weights as a direction and a length.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/norm_except_dim.h>
#include <ATen/ops/sum.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using xpu::kernels::Elementwise;
using xpu::kernels::Reduction;
using MaybeTensor = const std::optional<Tensor>&;

// A parameter of the channels as [1, groups, channels of a group].
Tensor by_group(MaybeTensor parameter, double otherwise, const Tensor& x, std::int64_t channels,
                std::int64_t groups) {
  auto t = given(parameter) ? parameter->reshape({1, groups, channels / groups})
                            : at::empty({}, x.options().dtype(statistics_type(x))).fill_(otherwise);
  return t.expand({1, groups, channels / groups});
}

std::tuple<Tensor, Tensor, Tensor> group_norm(const Tensor& input, MaybeTensor weight, MaybeTensor bias,
                                              std::int64_t n, std::int64_t channels, std::int64_t area,
                                              std::int64_t groups, double epsilon) {
  // Of the group's variance a0 and mean a1, the weight a2 and the bias a3.
  static const auto& factors = *new Elementwise({.name = "group_norm_factors",
                                                 .outputs = {"scale", "a3 - a1 * scale"},
                                                 .inputs = 4,
                                                 .body = "T scale = a0 * a2;"});
  static const auto& inverse =
      *new Elementwise({.name = "group_norm_rstd", .outputs = {"(T)1 / xpu::sqrt(a0 + p0)"}, .scalars = 1});
  static const auto& apply =
      *new Elementwise({.name = "group_norm", .outputs = {"a0 * a1 + a2"}, .inputs = 3});
  auto guard = guard_for(input, weight, bias);
  check_one_device(input, weight, bias);
  auto x = input.contiguous();
  auto type = statistics_type(x);
  auto options = x.options().dtype(type);
  auto y = at::empty_like(x);
  auto mean = at::empty({n, groups}, options), rstd = at::empty({n, groups}, options);
  reduce(xpu::kernels::reduction("var_mean"), {rstd, mean}, {x.view({n, groups, channels / groups * area})},
         IntArrayRef(2), {0.0}, type);
  elementwise(inverse, {rstd}, {rstd}, {epsilon}, type);
  auto scale = at::empty({n, groups, channels / groups}, options), shift = at::empty_like(scale);
  elementwise(factors, {scale, shift},
              {rstd.unsqueeze(2), mean.unsqueeze(2), by_group(weight, 1, x, channels, groups),
               by_group(bias, 0, x, channels, groups)},
              {}, type);
  auto as_rows = [&](const Tensor& t) { return t.view({n, channels, 1}); };
  elementwise(apply, {y.view({n, channels, area})},
              {x.view({n, channels, area}), as_rows(scale), as_rows(shift)}, {}, type);
  return {y, mean.to(x.scalar_type()), rstd.to(x.scalar_type())};
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(const Tensor& grad, const Tensor& input,
                                                       const Tensor& mean, const Tensor& rstd,
                                                       MaybeTensor weight, std::int64_t n,
                                                       std::int64_t channels, std::int64_t area,
                                                       std::int64_t groups, std::array<bool, 3> wanted) {
  // For each channel: the sums of the gradient times the input, and of the gradient.
  static const auto& sums = *new Reduction({.name = "group_norm_sums",
                                            .accumulators = {{"T", "0"}, {"T", "0"}},
                                            .map = {"a0 * a1", "a0"},
                                            .combine = "s0 += r0; s1 += r1;",
                                            .outputs = {"s0", "s1"},
                                            .inputs = 2});
  // Of those (a0, a1): for each group, weighted with a2; for each channel, of mean a2 and rstd a3.
  static const auto& over_group = *new Reduction({.name = "group_norm_group_sums",
                                                  .accumulators = {{"T", "0"}, {"T", "0"}},
                                                  .map = {"a0 * a2", "a1 * a2"},
                                                  .combine = "s0 += r0; s1 += r1;",
                                                  .outputs = {"s0", "s1"},
                                                  .inputs = 3});
  static const auto& over_batch = *new Reduction({.name = "group_norm_parameter_gradients",
                                                  .accumulators = {{"T", "0"}, {"T", "0"}},
                                                  .map = {"(a0 - a1 * a2) * a3", "a1"},
                                                  .combine = "s0 += r0; s1 += r1;",
                                                  .outputs = {"s0", "s1"},
                                                  .inputs = 4});
  static const auto& factors = *new Elementwise({.name = "group_norm_backward_factors",
                                                 .outputs = {"slope", "-slope * a2 - a1 * a3 * p0"},
                                                 .inputs = 4,
                                                 .scalars = 1,
                                                 .body = "T slope = (a1 * a2 - a0) * a3 * a3 * a3 * p0;"});
  static const auto& apply = *new Elementwise(
      {.name = "group_norm_backward", .outputs = {"a0 * a2 * a3 + a1 * a4 + a5"}, .inputs = 6});
  auto guard = guard_for(grad, input, weight);
  check_one_device(grad, input, mean, rstd, weight);
  auto x = input.contiguous(), g = grad.contiguous();
  auto type = statistics_type(x);
  auto options = x.options().dtype(type);
  auto each = channels / groups;
  auto ds = at::empty({n, groups, each}, options), db = at::empty_like(ds);
  auto view = [&](const Tensor& t) { return t.view({n, groups, each, area}); };
  reduce(sums, {ds, db}, {view(g), view(x)}, IntArrayRef(3), {}, type);
  Tensor dx, dweight, dbias;
  auto gain = by_group(weight, 1, x, channels, groups);
  auto m = mean.reshape({n, groups, 1}), r = rstd.reshape({n, groups, 1});
  if (wanted[0]) {
    dx = at::empty_like(x);
    auto group_ds = at::empty({n, groups, 1}, options), group_db = at::empty_like(group_ds);
    reduce(over_group, {group_ds, group_db}, {ds, db, gain}, IntArrayRef(2), {}, type);
    auto slope = at::empty_like(group_ds), shift = at::empty_like(group_ds);
    elementwise(factors, {slope, shift}, {group_ds, group_db, m, r}, {1 / static_cast<double>(each * area)},
                type);
    elementwise(apply, {view(dx)},
                {view(g), view(x), r.unsqueeze(3), gain.unsqueeze(3), slope.unsqueeze(3), shift.unsqueeze(3)},
                {}, type);
  }
  if (wanted[1] || wanted[2]) {
    auto parameter = given(weight) ? weight->options() : x.options();
    dweight = at::empty({channels}, parameter);
    dbias = at::empty({channels}, parameter);
    reduce(over_batch, {dweight.view({groups, each}), dbias.view({groups, each})}, {ds, db, m, r},
           IntArrayRef(0), {}, type);
  }
  return {dx, wanted[1] ? dweight : Tensor(), wanted[2] ? dbias : Tensor()};
}

// w = v * g / norm(v) for each slice along `dim`.
std::tuple<Tensor, Tensor> weight_norm(const Tensor& v, const Tensor& g, std::int64_t dim) {
  static const auto& apply =
      *new Elementwise({.name = "weight_norm", .outputs = {"a0 * (a1 / a2)"}, .inputs = 3});
  auto guard = guard_for(v, g);
  check_one_device(v, g);
  auto norms = at::norm_except_dim(v.to(statistics_type(v)), 2, dim);
  auto w = at::empty_like(v, at::MemoryFormat::Contiguous);
  elementwise(apply, {w}, {v, g, norms}, {}, norms.scalar_type());
  return {w, norms};
}
std::tuple<Tensor, Tensor> weight_norm_backward(const Tensor& grad, const Tensor& v, const Tensor& g,
                                                const Tensor& norms, std::int64_t dim) {
  static const auto& dot = *new Reduction({.name = "weight_norm_dot",
                                           .accumulators = {{"T", "0"}},
                                           .map = {"a0 * a1"},
                                           .combine = "s0 += r0;",
                                           .outputs = {"s0"},
                                           .inputs = 2});
  static const auto& of_v = *new Elementwise(
      {.name = "weight_norm_backward", .outputs = {"a2 / a3 * (a0 - a1 * (a4 / (a3 * a3)))"}, .inputs = 5});
  static const auto& of_g =
      *new Elementwise({.name = "weight_norm_backward_g", .outputs = {"a0 / a1"}, .inputs = 2});
  auto guard = guard_for(grad, v, g, norms);
  check_one_device(grad, v, g, norms);
  auto type = norms.scalar_type();
  at::DimVector others;
  for (std::int64_t d = 0; d < v.dim(); ++d)
    if (d != dim) others.push_back(d);
  auto products = at::empty(norms.sizes(), norms.options());
  reduce(dot, {products}, {grad, v}, others, {}, type);
  auto dv = at::empty_like(v, at::MemoryFormat::Contiguous),
       dg = at::empty_like(g, at::MemoryFormat::Contiguous);
  elementwise(of_v, {dv}, {grad, v, g, norms, products}, {}, type);
  elementwise(of_g, {dg}, {products, norms}, {}, type);
  return {dv, dg};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("native_group_norm", group_norm);
  m.impl("native_group_norm_backward", group_norm_backward);
  m.impl("_weight_norm_interface", weight_norm);
  m.impl("_weight_norm_interface_backward", weight_norm_backward);
}

}  // namespace torch_xpu
