// Batch normalization: over all dimensions but the second.
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>

#include "ops/arguments.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;
using xpu::kernels::Reduction;
using MaybeTensor = const std::optional<Tensor>&;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// A value for each channel, against the input.
Tensor channels(const Tensor& value, const Tensor& x) {
  at::DimVector sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = value.numel();
  return value.reshape(sizes);
}

at::DimVector other_dims(const Tensor& x) {
  at::DimVector dims;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}

Tensor or_fill(MaybeTensor parameter, const Tensor& like, double value) {
  return given(parameter) ? *parameter : at::empty_like(like).fill_(value);
}

void check(const Tensor& x, std::initializer_list<const std::optional<Tensor>*> parameters) {
  TORCH_CHECK(x.dim() >= 2, "batch_norm: expected an input of 2 or more dimensions, got ", x.sizes());
  for (auto* p : parameters)
    TORCH_CHECK(!given(*p) || (*p)->numel() == x.size(1), "batch_norm: expected ", x.size(1),
                " values a channel parameter, got ", (*p)->numel());
}

// mean = a0, biased variance = a1, running mean = a2 and variance = a3; p0: momentum, p1: n / (n - 1).
void update_running(const Tensor& mean, const Tensor& variance, const Tensor& x, MaybeTensor running_mean,
                    MaybeTensor running_var, double momentum) {
  static const auto& move = *new Elementwise(
      {.name = "batch_norm_running", .outputs = {"a1 + (a0 * p1 - a1) * p0"}, .inputs = 2, .scalars = 2});
  double n = static_cast<double>(x.numel() / x.size(1));
  if (given(running_mean)) elementwise(move, {*running_mean}, {mean, *running_mean}, {momentum, 1.0});
  if (given(running_var))
    elementwise(move, {*running_var}, {variance, *running_var}, {momentum, n / (n - 1)});
}

// y = x * scale + shift for each channel.
void normalize(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& invstd, MaybeTensor weight,
               MaybeTensor bias) {
  static const auto& factors = *new Elementwise(
      {.name = "batch_norm_factors", .outputs = {"a1 * a2", "a3 - a0 * a1 * a2"}, .inputs = 4});
  static const auto& apply =
      *new Elementwise({.name = "batch_norm", .outputs = {"a0 * a1 + a2"}, .inputs = 3});
  auto scale = at::empty_like(mean), shift = at::empty_like(mean);
  elementwise(factors, {scale, shift}, {mean, invstd, or_fill(weight, mean, 1), or_fill(bias, mean, 0)}, {},
              mean.scalar_type());
  elementwise(apply, {y}, {x, channels(scale, x), channels(shift, x)}, {}, mean.scalar_type());
}

// 1 / sqrt(variance + epsilon).
Tensor inverse_deviation(const Tensor& variance, at::ScalarType type, double epsilon) {
  static const auto& op =
      *new Elementwise({.name = "batch_norm_invstd", .outputs = {"(T)1 / xpu::sqrt(a0 + p0)"}, .scalars = 1});
  auto out = at::empty({variance.numel()}, variance.options().dtype(type));
  elementwise(op, {out}, {variance}, {epsilon}, type);
  return out;
}

Three batch_norm(const Tensor& x, MaybeTensor weight, MaybeTensor bias, MaybeTensor running_mean,
                 MaybeTensor running_var, bool training, double momentum, double epsilon) {
  auto guard = guard_for(x, weight, bias);
  check_one_device(x, weight, bias, running_mean, running_var);
  check(x, {&weight, &bias, &running_mean, &running_var});
  auto type = statistics_type(x);
  auto y = at::empty_like(x);
  Tensor mean, invstd;
  if (training) {
    TORCH_CHECK(x.numel() > 0,
                "input tensor must have at least one element, but got input_sizes = ", x.sizes());
    auto options = x.options().dtype(type);
    mean = at::empty({x.size(1)}, options);
    auto variance = at::empty({x.size(1)}, options);
    reduce(xpu::kernels::reduction("var_mean"), {variance, mean}, {x}, other_dims(x), {0.0}, type);
    update_running(mean, variance, x, running_mean, running_var, momentum);
    invstd = inverse_deviation(variance, type, epsilon);
  } else {
    TORCH_CHECK(given(running_mean) && given(running_var),
                "Expected running_mean and running_var to be defined when training=False");
    mean = running_mean->to(type, false, true);
    invstd = inverse_deviation(*running_var, type, epsilon);
  }
  normalize(y, x, mean, invstd, weight, bias);
  if (training) return {y, mean, invstd};
  // The backward of an evaluation takes the running statistics.
  auto none = at::empty({0}, mean.options());
  return {y, none, none};
}

// a0 is the gradient, a1 the input, a2 its mean: sums of the gradient and of it times the input.
const Reduction& gradient_sums() {
  static const auto& both = *new Reduction({.name = "batch_norm_sums",
                                            .accumulators = {{"T", "0"}, {"T", "0"}},
                                            .map = {"a0", "a0 * (a1 - a2)"},
                                            .combine = "s0 += r0; s1 += r1;",
                                            .outputs = {"s0", "s1"},
                                            .inputs = 3});
  return both;
}

// The gradient a0 and the input a1 with a slope, a slope and an offset of the channel.
const Elementwise& gradient() {
  static const auto& apply =
      *new Elementwise({.name = "batch_norm_backward", .outputs = {"a0 * a2 + a1 * a3 + a4"}, .inputs = 5});
  return apply;
}

Three batch_norm_backward(const Tensor& grad, const Tensor& x, MaybeTensor weight, MaybeTensor running_mean,
                          MaybeTensor running_var, MaybeTensor save_mean, MaybeTensor save_invstd,
                          bool training, double epsilon, std::array<bool, 3> wanted) {
  // Of the channel's sum a0, product a1, mean a2, invstd a3, weight a4; p0: 1 / n.
  static const auto& factors =
      *new Elementwise({.name = "batch_norm_backward_factors",
                        .outputs = {"scale", "slope", "-scale * a0 * p0 - slope * a2"},
                        .inputs = 5,
                        .scalars = 1,
                        .body = "T scale = a3 * a4; T slope = -scale * a3 * a3 * a1 * p0;"});
  static const auto& scaled = *new Elementwise({.name = "scaled", .outputs = {"a0 * a1"}, .inputs = 2});
  auto guard = guard_for(grad, x, weight);
  check_one_device(grad, x, weight, running_mean, running_var, save_mean, save_invstd);
  auto type = statistics_type(x);
  Tensor mean, invstd;
  if (training) {
    TORCH_CHECK(given(save_mean) && given(save_invstd), "batch_norm_backward: no statistics were saved");
    mean = save_mean->to(type, false, false);
    invstd = save_invstd->to(type, false, false);
  } else {
    mean = running_mean->to(type, false, false);
    invstd = inverse_deviation(*running_var, type, epsilon);
  }
  auto sum = at::empty_like(mean), product = at::empty_like(mean);
  if (training || wanted[1] || wanted[2])
    reduce(gradient_sums(), {sum, product}, {grad, x, channels(mean, x)}, other_dims(x), {}, type);
  auto gain = or_fill(weight, mean, 1);
  Tensor dx, dweight, dbias;
  if (wanted[0]) {
    dx = at::empty_like(x);
    if (training) {
      auto a = at::empty_like(mean), b = at::empty_like(mean), c = at::empty_like(mean);
      double n = static_cast<double>(x.numel() / std::max<std::int64_t>(x.size(1), 1));
      elementwise(factors, {a, b, c}, {sum, product, mean, invstd, gain}, {1 / n}, type);
      elementwise(gradient(), {dx}, {grad, x, channels(a, x), channels(b, x), channels(c, x)}, {}, type);
    } else {
      auto a = at::empty_like(mean);
      elementwise(scaled, {a}, {invstd, gain}, {}, type);
      elementwise(scaled, {dx}, {grad, channels(a, x)}, {}, type);
    }
  }
  auto parameter = given(weight) ? weight->scalar_type() : x.scalar_type();
  if (wanted[1]) {
    dweight = at::empty(mean.sizes(), mean.options().dtype(parameter));
    elementwise(scaled, {dweight}, {product, invstd}, {}, type);
  }
  if (wanted[2]) dbias = sum.to(parameter);
  return {dx, dweight, dbias};
}

using Outputs = std::tuple<Tensor&, Tensor&, Tensor&>;
// Refused before anything is written: the running statistics are, too.
void check_outputs(const Tensor& x, const Tensor& out, const Tensor& mean, const Tensor& invstd) {
  check_type(out, x.scalar_type());
  check_type(mean, statistics_type(x));
  check_type(invstd, statistics_type(x));
}
Outputs store(Three made, Tensor& out, Tensor& mean, Tensor& invstd) {
  auto put = [](Tensor& to, const Tensor& from) { to.resize_(from.sizes()).copy_(from); };
  put(out, std::get<0>(made));
  put(mean, std::get<1>(made));
  put(invstd, std::get<2>(made));
  return {out, mean, invstd};
}

Outputs batch_norm_out(const Tensor& x, MaybeTensor weight, MaybeTensor bias, MaybeTensor running_mean,
                       MaybeTensor running_var, bool training, double momentum, double epsilon, Tensor& out,
                       Tensor& mean, Tensor& invstd) {
  check_outputs(x, out, mean, invstd);
  return store(batch_norm(x, weight, bias, running_mean, running_var, training, momentum, epsilon), out, mean,
               invstd);
}
Three legit(const Tensor& x, MaybeTensor weight, MaybeTensor bias, Tensor& running_mean, Tensor& running_var,
            bool training, double momentum, double epsilon) {
  return batch_norm(x, weight, bias, running_mean, running_var, training, momentum, epsilon);
}
Outputs legit_out(const Tensor& x, MaybeTensor weight, MaybeTensor bias, Tensor& running_mean,
                  Tensor& running_var, bool training, double momentum, double epsilon, Tensor& out,
                  Tensor& mean, Tensor& invstd) {
  check_outputs(x, out, mean, invstd);
  return store(batch_norm(x, weight, bias, running_mean, running_var, training, momentum, epsilon), out, mean,
               invstd);
}
Three no_stats(const Tensor& x, MaybeTensor weight, MaybeTensor bias, bool training, double momentum,
               double epsilon) {
  return batch_norm(x, weight, bias, {}, {}, training, momentum, epsilon);
}
Outputs no_stats_out(const Tensor& x, MaybeTensor weight, MaybeTensor bias, bool training, double momentum,
                     double epsilon, Tensor& out, Tensor& mean, Tensor& invstd) {
  check_outputs(x, out, mean, invstd);
  return store(batch_norm(x, weight, bias, {}, {}, training, momentum, epsilon), out, mean, invstd);
}
// The last result is cuDNN's memory between the passes: there is none.
Four with_update(const Tensor& x, MaybeTensor weight, MaybeTensor bias, Tensor& running_mean,
                 Tensor& running_var, double momentum, double epsilon) {
  auto [y, mean, invstd] = batch_norm(x, weight, bias, running_mean, running_var, true, momentum, epsilon);
  return {y, mean, invstd, at::empty({0}, x.options().dtype(at::kByte))};
}
Three backward_with_reserve(const Tensor& grad, const Tensor& x, const Tensor& weight,
                            MaybeTensor running_mean, MaybeTensor running_var, MaybeTensor save_mean,
                            MaybeTensor save_var, bool update, double epsilon, std::array<bool, 3> wanted,
                            const Tensor&) {
  return batch_norm_backward(grad, x, weight, running_mean, running_var, save_mean, save_var, update, epsilon,
                             wanted);
}

std::tuple<Tensor, Tensor> update_stats(const Tensor& x, MaybeTensor running_mean, MaybeTensor running_var,
                                        double momentum) {
  auto guard = guard_for(x);
  check_one_device(x, running_mean, running_var);
  auto options = x.options().dtype(statistics_type(x));
  auto mean = at::empty({x.size(1)}, options), variance = at::empty({x.size(1)}, options);
  reduce(xpu::kernels::reduction("var_mean"), {variance, mean}, {x}, other_dims(x), {0.0},
         statistics_type(x));
  update_running(mean, variance, x, running_mean, running_var, momentum);
  return {mean, variance};
}

// What SyncBatchNorm calls between the exchanges of processes: the statistics of this process's part ...
std::tuple<Tensor, Tensor> part_stats(const Tensor& x, double epsilon) {
  check(x, {});
  auto [mean, variance] = update_stats(x, {}, {}, 0);
  return {mean, inverse_deviation(variance, mean.scalar_type(), epsilon)};
}

// ... those of all parts, from [parts, channels] of means and invstds and [parts] of counts ...
std::tuple<Tensor, Tensor> gather_stats_with_counts(const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                                    MaybeTensor running_mean, MaybeTensor running_var,
                                                    double momentum, double epsilon, const Tensor& counts) {
  // a0: a part's mean, a1 its invstd, a2 its count, a3 the mean of the first part, which keeps the sums
  // small.
  static const auto& moments =
      *new Reduction({.name = "batch_norm_parts",
                      .accumulators = {{"T", "0"}, {"T", "0"}, {"T", "0"}},
                      .map = {"a2", "a2 * (a0 - a3)", "a2 * ((T)1 / (a1 * a1) - p0 + (a0 - a3) * (a0 - a3))"},
                      .combine = "s0 += r0; s1 += r1; s2 += r2;",
                      .outputs = {"s0", "s1 / s0", "(s2 - s1 * s1 / s0) / s0"},
                      .inputs = 4,
                      .scalars = 1});
  // mean = a0, biased variance = a1, count = a2, running = a3, a4; p0: momentum.
  static const auto& move_mean = *new Elementwise(
      {.name = "sync_running_mean", .outputs = {"a1 + (a0 - a1) * p0"}, .inputs = 2, .scalars = 1});
  static const auto& move_var = *new Elementwise({.name = "sync_running_var",
                                                  .outputs = {"a2 + (a0 * a1 / (a1 - (T)1) - a2) * p0"},
                                                  .inputs = 3,
                                                  .scalars = 1});
  auto guard = guard_for(x);
  check_one_device(x, mean, invstd, running_mean, running_var, counts);
  TORCH_CHECK(mean.dim() == 2 && mean.sizes() == invstd.sizes() && counts.numel() == mean.size(0),
              "batch_norm_gather_stats: expected means and invstds of [parts, channels] and a count for each "
              "part, got ",
              mean.sizes(), ", ", invstd.sizes(), " and ", counts.sizes());
  auto type = statistics_type(x);
  auto options = mean.options().dtype(type);
  auto count = at::empty({mean.size(1)}, options), shift = at::empty_like(count),
       variance = at::empty_like(count);
  auto first = mean.slice(0, 0, 1);
  reduce(moments, {count, shift, variance}, {mean, invstd, counts.view({-1, 1}), first}, {0}, {epsilon},
         type);
  auto all = at::add(shift, first.squeeze(0).to(type));
  if (given(running_mean)) elementwise(move_mean, {*running_mean}, {all, *running_mean}, {momentum}, type);
  if (given(running_var))
    elementwise(move_var, {*running_var}, {variance, count, *running_var}, {momentum}, type);
  return {all, inverse_deviation(variance, type, epsilon)};
}

std::tuple<Tensor, Tensor> gather_stats(const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                        MaybeTensor running_mean, MaybeTensor running_var, double momentum,
                                        double epsilon, std::int64_t count) {
  auto guard = guard_for(x);
  auto counts = at::empty({mean.size(0)}, mean.options()).fill_(count);
  return gather_stats_with_counts(x, mean, invstd, running_mean, running_var, momentum, epsilon, counts);
}

Tensor elemt(const Tensor& x, MaybeTensor weight, MaybeTensor bias, const Tensor& mean, const Tensor& invstd,
             double) {
  auto guard = guard_for(x);
  check_one_device(x, weight, bias, mean, invstd);
  check(x, {&weight, &bias});
  auto y = at::empty_like(x);
  normalize(y, x, mean.to(statistics_type(x)), invstd.to(statistics_type(x)), weight, bias);
  return y;
}
Tensor& elemt_out(const Tensor& x, MaybeTensor weight, MaybeTensor bias, const Tensor& mean,
                  const Tensor& invstd, double epsilon, Tensor& out) {
  return out.resize_(x.sizes()).copy_(elemt(x, weight, bias, mean, invstd, epsilon));
}

// ... and in the backward the sums of this part ...
Four backward_reduce(const Tensor& grad, const Tensor& x, const Tensor& mean_, const Tensor& invstd,
                     MaybeTensor weight, bool of_input, bool of_weight, bool of_bias) {
  static const auto& scaled = *new Elementwise({.name = "scaled", .outputs = {"a0 * a1"}, .inputs = 2});
  auto guard = guard_for(grad, x);
  check_one_device(grad, x, mean_, invstd, weight);
  check(x, {&weight});
  auto type = statistics_type(x);
  auto mean = mean_.to(type);
  auto sum = at::empty_like(mean), product = at::empty_like(mean);
  reduce(gradient_sums(), {sum, product}, {grad, x, channels(mean, x)}, other_dims(x), {}, type);
  auto options = mean.options().dtype(given(weight) ? weight->scalar_type() : x.scalar_type());
  Tensor dweight, dbias;
  if (of_weight) {
    dweight = at::empty(mean.sizes(), options);
    elementwise(scaled, {dweight}, {product, invstd}, {}, type);
  }
  if (of_bias) dbias = sum.to(options);
  if (!of_input) return {Tensor(), Tensor(), dweight, dbias};
  return {sum, product, dweight, dbias};
}

// ... which, added up over the parts, give the gradient of the input.
Tensor backward_elemt(const Tensor& grad, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                      MaybeTensor weight, const Tensor& sum, const Tensor& product, const Tensor& counts) {
  // Of the channel's sum a0, product a1, mean a2, invstd a3, weight a4 and the count a5 of all parts.
  static const auto& factors =
      *new Elementwise({.name = "sync_batch_norm_backward_factors",
                        .outputs = {"scale", "slope", "-scale * a0 / a5 - slope * a2"},
                        .inputs = 6,
                        .body = "T scale = a3 * a4; T slope = -scale * a3 * a3 * a1 / a5;"});
  auto guard = guard_for(grad, x);
  check_one_device(grad, x, mean, invstd, weight, sum, product, counts);
  check(x, {&weight});
  auto type = statistics_type(x);
  auto dx = at::empty_like(x);
  auto a = at::empty({x.size(1)}, mean.options().dtype(type)), b = at::empty_like(a), c = at::empty_like(a);
  elementwise(factors, {a, b, c}, {sum, product, mean, invstd, or_fill(weight, a, 1), counts.sum()}, {},
              type);
  elementwise(gradient(), {dx}, {grad, x, channels(a, x), channels(b, x), channels(c, x)}, {}, type);
  return dx;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("batch_norm_stats", part_stats);
  m.impl("batch_norm_gather_stats", gather_stats);
  m.impl("batch_norm_gather_stats_with_counts", gather_stats_with_counts);
  m.impl("batch_norm_elemt", elemt);
  m.impl("batch_norm_elemt.out", elemt_out);
  m.impl("batch_norm_backward_reduce", backward_reduce);
  m.impl("batch_norm_backward_elemt", backward_elemt);
  m.impl("native_batch_norm", batch_norm);
  m.impl("native_batch_norm.out", batch_norm_out);
  m.impl("native_batch_norm_backward", batch_norm_backward);
  m.impl("_native_batch_norm_legit", legit);
  m.impl("_native_batch_norm_legit.out", legit_out);
  m.impl("_native_batch_norm_legit.no_stats", no_stats);
  m.impl("_native_batch_norm_legit.no_stats_out", no_stats_out);
  m.impl("_batch_norm_with_update", with_update);
  m.impl("batch_norm_backward", backward_with_reserve);
  m.impl("batch_norm_update_stats", update_stats);
}

}  // namespace torch_xpu
