// Dropout and its relatives, and samples of categories.
#include <ATen/native/Resize.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/topk.h>
#include <torch/library.h>

#include <cmath>

#include "ops/arguments.h"
#include "ops/elementwise/elementwise.h"
#include "ops/random.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using MaybeGenerator = std::optional<at::Generator>;
using xpu::kernels::Elementwise;

const Elementwise& masked_scale() {
  static const auto& op = *new Elementwise(
      {.name = "masked_scale", .outputs = {"a1 != (T)0 ? a0 * p0 : (T)0"}, .inputs = 2, .scalars = 1});
  return op;
}

std::tuple<Tensor, Tensor> dropout(const Tensor& x, double p, std::optional<bool> train) {
  auto guard = guard_for(x);
  if (train && !*train) return {x.clone(), at::ones_like(x, x.options().dtype(at::kBool))};
  auto mask = at::empty_like(x, x.options().dtype(at::kBool));
  mask.bernoulli_(1 - p);
  auto out = at::empty_like(x);
  elementwise(masked_scale(), {out}, {x, mask}, {p == 1 ? 0.0 : 1 / (1 - p)}, x.scalar_type());
  return {out, mask};
}
Tensor dropout_backward(const Tensor& grad, const Tensor& mask, double scale) {
  auto guard = guard_for(grad);
  check_one_device(grad, mask);
  TORCH_CHECK(mask.scalar_type() == at::kBool, "Mask should be Bool Scalar Type ", mask.scalar_type());
  auto out = at::empty_like(grad);
  elementwise(masked_scale(), {out}, {grad, mask}, {scale}, grad.scalar_type());
  return out;
}

Tensor& rrelu_out(const Tensor& x, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                  MaybeGenerator generator, Tensor& out) {
  static const auto& op = *new Elementwise({.name = "rrelu",
                                            .outputs = {"x > (T)0 ? x : x * r", "x > (T)0 ? (T)1 : r"},
                                            .inputs = 2,
                                            .body = "T x = a0, r = a1;"});
  auto guard = guard_for(x, noise);
  check_one_device(x, noise, out);
  double low = lower.toDouble(), high = upper.toDouble();
  TORCH_CHECK(low <= high, "Lower bound should be less than or equal to the upper bound");
  if (!training) return at::leaky_relu_out(out, x, (low + high) / 2);
  at::native::resize_output(out, x.sizes());
  auto drawn = at::empty_like(x);
  drawn.uniform_(low, high, generator);
  auto slopes = noise.sizes() == x.sizes() ? noise : noise.resize_(x.sizes());
  elementwise(op, {out, slopes}, {x, drawn});
  return out;
}
Tensor rrelu(const Tensor& x, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
             MaybeGenerator generator) {
  auto out = at::empty_like(x);
  return rrelu_out(x, noise, lower, upper, training, generator, out);
}
Tensor& rrelu_(Tensor& x, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
               MaybeGenerator generator) {
  return rrelu_out(x, noise, lower, upper, training, generator, x);
}

// Which category a uniform number falls in.
Tensor drawn_with_replacement(const Tensor& weights, std::int64_t count, const MaybeGenerator& generator) {
  auto type = weights.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  auto sums = at::cumsum(weights, -1, type);
  auto sizes = weights.sizes().vec();
  sizes.back() = count;
  auto points = at::empty(sizes, sums.options());
  points.uniform_(0, 1, generator).mul_(sums.narrow(-1, sums.size(-1) - 1, 1));
  return at::searchsorted(sums, points, false, true).clamp_max_(weights.size(-1) - 1);
}
// The categories that come first when each waits an exponential time of its rate.
Tensor drawn_without_replacement(const Tensor& weights, std::int64_t count, const MaybeGenerator& generator) {
  auto type = weights.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  auto times = at::empty(weights.sizes(), weights.options().dtype(type));
  times.exponential_(1, generator);
  auto rank = at::div(weights, times);
  return count == 1 ? at::argmax(rank, -1, true) : std::get<1>(at::topk(rank, count, -1));
}

Tensor sample_categories(const Tensor& weights, std::int64_t count, bool replacement,
                         MaybeGenerator generator) {
  auto guard = guard_for(weights);
  TORCH_CHECK(weights.dim() > 0 && weights.dim() <= 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(at::isFloatingType(weights.scalar_type()),
              "multinomial only supports floating-point dtypes for input, got: ", weights.scalar_type());
  TORCH_CHECK(count > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || count <= weights.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (weights.numel() == 0) {
    auto sizes = weights.sizes().vec();
    sizes.back() = count;
    return at::empty(sizes, weights.options().dtype(at::kLong));
  }
  TORCH_CHECK(weights.max().lt(INFINITY).logical_and(weights.min().ge(0)).item<bool>(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  TORCH_CHECK(weights.sum(-1, false, at::kFloat).gt(0).all().item<bool>(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
  return replacement ? drawn_with_replacement(weights, count, generator)
                     : drawn_without_replacement(weights, count, generator);
}
Tensor& multinomial_out(const Tensor& weights, std::int64_t count, bool replacement, MaybeGenerator generator,
                        Tensor& out) {
  check_one_device(weights, out);
  TORCH_CHECK(out.scalar_type() == at::kLong,
              "multinomial expects Long tensor out, got: ", out.scalar_type());
  auto drawn = sample_categories(weights, count, replacement, generator);
  at::native::resize_output(out, drawn.sizes());
  return out.copy_(drawn);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("native_dropout", dropout);
  m.impl("native_dropout_backward", dropout_backward);
  m.impl("rrelu_with_noise", rrelu);
  m.impl("rrelu_with_noise.out", rrelu_out);
  m.impl("rrelu_with_noise_", rrelu_);
  m.impl("multinomial", sample_categories);
  m.impl("multinomial.out", multinomial_out);
}

}  // namespace torch_xpu
