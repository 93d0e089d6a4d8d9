// Quantization that is only imitated, for training: floats rounded to the numbers a quantized type could
// hold.
#include <ATen/ops/_fake_quantize_learnable_per_channel_affine_native.h>
#include <ATen/ops/_fake_quantize_learnable_per_tensor_affine_native.h>
#include <ATen/ops/_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/fake_quantize_per_channel_affine_cachemask.h>
#include <ATen/ops/ones_like.h>
#include <torch/library.h>

#include <limits>

#include "ops/arguments.h"
#include "ops/elementwise/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;
using Faked = std::tuple<Tensor, Tensor>;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;

// The number x is stored as is q; NaN is the least.
constexpr auto bounded = R"(
template <class T> T bounded(T q, T low, T high) { return q >= low ? (q <= high ? q : high) : low; }
)";

// p0 and p1 are the least and the greatest number; a1 is the scale, a2 the zero point and a3 whether to
// do it.
std::vector<std::string> faked(const char* apply = "true") {
  return {std::string(apply) + " ? (bounded(q, p0, p1) - a2) * a1 : a0",
          std::string(apply) + " ? q >= p0 && q <= p1 : true"};
}

void check_range(std::int64_t low, std::int64_t high) {
  TORCH_CHECK(low <= high, "`quant_min` should be less than or equal to `quant_max`.");
}

Faked empty_faked(const Tensor& x) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(x.scalar_type()), "\"fake_quantize\" not implemented for '",
                              x.scalar_type(), "'");
  return {at::empty_like(x), at::empty_like(x, x.options().dtype(at::kBool))};
}

Faked per_tensor(const Tensor& x, double scale, std::int64_t zero, std::int64_t low, std::int64_t high) {
  static const auto& kernel =
      *new Elementwise({.name = "fake_quantize",
                        .outputs = {"(bounded(q, p0, p1) - p3) * p2", "q >= p0 && q <= p1"},
                        .inputs = 1,
                        .scalars = 5,
                        .body = "T q = xpu::round_even(a0 * p4) + p3;",
                        .helpers = bounded});
  auto guard = guard_for(x);
  check_range(low, high);
  TORCH_CHECK(zero >= low && zero <= high, "`zero_point` must be between `quant_min` and `quant_max`.");
  auto [out, mask] = empty_faked(x);
  auto factor = static_cast<float>(scale);
  elementwise(kernel, {out, mask}, {x}, {low, high, factor, zero, 1 / factor}, x.scalar_type());
  return {out, mask};
}

Faked per_tensor_of_tensors(const Tensor& x, const Tensor& scale, const Tensor& zero, const Tensor& enabled,
                            std::int64_t low, std::int64_t high) {
  static const auto& kernel = *new Elementwise({.name = "fake_quantize_enabled",
                                                .outputs = faked("a3 != (T)0"),
                                                .inputs = 4,
                                                .scalars = 2,
                                                .body = "T q = xpu::round_even(a0 * ((T)1 / a1)) + a2;",
                                                .helpers = bounded});
  auto guard = guard_for(x);
  check_one_device(x, scale, zero, enabled);
  check_range(low, high);
  TORCH_CHECK(scale.numel() == 1 && zero.numel() == 1 && enabled.numel() == 1,
              "expected one scale and one zero point, got ", scale.sizes(), " and ", zero.sizes());
  auto [out, mask] = empty_faked(x);
  auto one = [](const Tensor& t) { return t.reshape({}); };
  elementwise(kernel, {out, mask}, {x, one(scale), one(zero), one(enabled)}, {low, high}, x.scalar_type());
  return {out, mask};
}

// One number for each place along `axis`, shaped to broadcast.
Tensor along(const Tensor& t, const Tensor& x, std::int64_t axis) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[static_cast<std::size_t>(axis)] = t.numel();
  return t.reshape(shape);
}

void check_channels(const Tensor& x, const Tensor& scale, const Tensor& zero, std::int64_t axis) {
  TORCH_CHECK(axis >= 0 && axis < x.dim(), "`axis` must be between 0 and number of dimensions of input");
  TORCH_CHECK(scale.dim() == 1, "scale should be a 1-D tensor");
  TORCH_CHECK(zero.dim() == 1, "zero point should be a 1-D tensor");
  TORCH_CHECK(scale.numel() == zero.numel(), "scale and zero-point need to have the same dimensions");
  TORCH_CHECK(scale.numel() == x.size(axis),
              "dimensions of scale and zero-point are not consistent with input tensor");
}

void check_zero_points(const Tensor& zero, std::int64_t low, std::int64_t high) {
  if (zero.numel() == 0) return;
  TORCH_CHECK(zero.ge(low).logical_and(zero.le(high)).all().item<bool>(),
              "`zero_point` must be between `quant_min` and `quant_max`.");
}

Faked per_channel(const Tensor& x, const Tensor& scale, const Tensor& zero, std::int64_t axis,
                  std::int64_t low, std::int64_t high) {
  // A zero point that is no integer is added before rounding.
  static const auto make = [](const char* name, const char* body) -> const Elementwise& {
    return *new Elementwise(
        {.name = name, .outputs = faked(), .inputs = 3, .scalars = 2, .body = body, .helpers = bounded});
  };
  static const auto &integer =
                        make("fake_quantize_channels", "T q = xpu::round_even(a0 * ((T)1 / a1)) + a2;"),
                    &real =
                        make("fake_quantize_channels_real", "T q = xpu::round_even(a0 * ((T)1 / a1) + a2);");
  auto guard = guard_for(x);
  check_one_device(x, scale, zero);
  TORCH_CHECK(scale.scalar_type() == at::kFloat || scale.scalar_type() == at::kBFloat16,
              "Scale must be Float or BFloat16, found ", scale.scalar_type());
  auto type = zero.scalar_type();
  TORCH_CHECK(type == at::kInt || type == at::kFloat || type == at::kHalf,
              "Zero-point must be Int32, Float or Half, found ", type);
  check_channels(x, scale, zero, axis);
  check_range(low, high);
  if (type == at::kInt) check_zero_points(zero, low, high);
  auto [out, mask] = empty_faked(x);
  elementwise(type == at::kInt ? integer : real, {out, mask},
              {x, along(scale, x, axis), along(zero, x, axis)}, {low, high}, x.scalar_type());
  return {out, mask};
}

// Gradients of x, and each element's part of those of the scale and the zero point. a2 is the scale, a3 the
// zero point.
const Elementwise& learnable_gradients() {
  static const auto& kernel =
      *new Elementwise({.name = "fake_quantize_gradients",
                        .outputs = {"inside ? a1 : (T)0",
                                    "a1 * p2 * (inside ? ((bounded(q, p0, p1) - a3) * a2 - a0) * inverse : "
                                    "(q < p0 ? p0 : p1) - a3)",
                                    "inside ? (T)0 : -a1 * a2 * p2"},
                        .inputs = 4,
                        .scalars = 3,
                        .body = "T inverse = (T)1 / a2, q = xpu::round_even(a0 * inverse) + a3;"
                                "bool inside = q >= p0 && q <= p1;",
                        .helpers = bounded});
  return kernel;
}

void check_learnable(const Tensor& grad, const Tensor& x, const Tensor& scale, const Tensor& zero,
                     std::int64_t low, std::int64_t high) {
  check_one_device(grad, x, scale, zero);
  for (auto* t : {&grad, &x, &scale, &zero})
    TORCH_CHECK(t->scalar_type() == at::kFloat, "expected Float tensors, got ", t->scalar_type());
  TORCH_CHECK(x.sizes() == grad.sizes(), "`X` and `dY` are not the same size");
  TORCH_CHECK(low <= 0 && high >= 0, "Expecting `quant_min` <= 0 and `quant_max` >= 0");
}

Gradients learnable_per_tensor_backward(const Tensor& grad, const Tensor& x, const Tensor& scale,
                                        const Tensor& zero, std::int64_t low, std::int64_t high,
                                        double factor) {
  auto guard = guard_for(grad, x);
  check_learnable(grad, x, scale, zero, low, high);
  TORCH_CHECK(scale.numel() == 1 && zero.numel() == 1, "expected one scale and one zero point, got ",
              scale.sizes(), " and ", zero.sizes());
  if (x.numel() == 0) return {x, scale, zero};
  auto point = zero.add(0.5).clamp_(low, high).trunc_().reshape({});
  auto grad_x = at::empty_like(x), grad_scale = at::empty_like(x), grad_zero = at::empty_like(x);
  elementwise(learnable_gradients(), {grad_x, grad_scale, grad_zero}, {x, grad, scale.reshape({}), point},
              {low, high, factor});
  return {grad_x, grad_scale.sum().unsqueeze(0), grad_zero.sum().unsqueeze(0)};
}

Gradients learnable_per_channel_backward(const Tensor& grad_, const Tensor& x_, const Tensor& scale_,
                                         const Tensor& zero_, std::int64_t axis, std::int64_t low,
                                         std::int64_t high, double factor) {
  auto guard = guard_for(grad_, x_);
  bool half = x_.scalar_type() == at::kBFloat16;
  auto wide = [&](const Tensor& t) { return half ? t.to(at::kFloat) : t; };
  auto grad = wide(grad_), x = wide(x_), scale = wide(scale_), zero = wide(zero_);
  check_learnable(grad, x, scale, zero, low, high);
  check_channels(x, scale, zero, axis);
  if (x.numel() == 0) return {x_, scale_, zero_};
  auto point = zero.round().clamp_(low, high);
  auto grad_x = at::empty_like(x), grad_scale = at::empty_like(x), grad_zero = at::empty_like(x);
  elementwise(learnable_gradients(), {grad_x, grad_scale, grad_zero},
              {x, grad, along(scale, x, axis), along(point, x, axis)}, {low, high, factor});
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != axis) others.push_back(d);
  auto summed = [&](const Tensor& t) { return others.empty() ? t : t.sum(others); };
  return {grad_x, summed(grad_scale), summed(grad_zero)};
}

// Moves the extremes seen so far towards those of x, where observing is on.
void observe(const Tensor& x, const Tensor& on, const Tensor& least, const Tensor& greatest, double constant,
             bool rows) {
  static const auto& kernel =
      *new Elementwise({.name = "moving_extremes",
                        .outputs = {"a4 != (T)1 ? a0 : xpu::isinf(a0) ? a2 : a0 + p0 * (a2 - a0)",
                                    "a4 != (T)1 ? a1 : xpu::isinf(a1) ? a3 : a1 + p0 * (a3 - a1)"},
                        .inputs = 5,
                        .scalars = 1});
  auto [low, high] = rows ? at::aminmax(x, 1) : at::aminmax(x);
  elementwise(kernel, {least, greatest}, {least, greatest, low, high, on.reshape({})}, {constant},
              at::kFloat);
}

// The scale and zero point by which the integers from p0 to p1 cover the extremes and 0, where that is on.
void choose(const Tensor& least, const Tensor& greatest, const Tensor& on, const Tensor& scale,
            const Tensor& zero, std::int64_t low, std::int64_t high, bool symmetric) {
  static const auto& kernel =
      *new Elementwise({.name = "choose_quantization",
                        .outputs = {"a2 != (T)1 ? a3 : scale", "a2 != (T)1 ? a4 : zero"},
                        .inputs = 5,
                        .scalars = 3,
                        .body = R"(
T least = a0, greatest = a1;
bool both = least < (T)0 && greatest > (T)0 && p2 != (T)0;
if (both) {
  T half = (T)((i64)(p1 - p0) / 2);
  T widest = xpu::maximum(xpu::abs(least / -(half + (T)1)), xpu::abs(greatest / half));
  least = -(half + (T)1) * widest;
  greatest = half * widest;
}
least = least < (T)0 ? least : (T)0;
greatest = greatest > (T)0 ? greatest : (T)0;
T scale = (greatest - least) / (p1 - p0);
if (scale == (T)0 || xpu::isinf((T)1 / scale)) scale = (T)0.1f;
T from_least = p0 - least / scale, from_greatest = p1 - greatest / scale;
bool better = xpu::abs(p0) + xpu::abs(least / scale) < xpu::abs(p1) + xpu::abs(greatest / scale);
T chosen = both ? (p0 + p1) / (T)2 : better ? from_least : from_greatest;
T zero = chosen < p0 ? p0 : chosen > p1 ? p1 : xpu::round_even(chosen);
)"});
  elementwise(kernel, {scale, zero}, {least, greatest, on.reshape({}), scale, zero},
              {low, high, symmetric ? 1 : 0}, at::kFloat);
}

Faked observed(const Tensor& x, const Tensor& observe_on, const Tensor& fake_on, Tensor& least,
               Tensor& greatest, Tensor& scale, Tensor& zero, double constant, std::int64_t low,
               std::int64_t high, std::int64_t axis, bool rows, bool symmetric) {
  auto guard = guard_for(x);
  check_one_device(x, observe_on, fake_on, least, greatest, scale, zero);
  TORCH_CHECK(axis < x.dim(), "fused_moving_avg_obs_fake_quant: ch_axis must be < self.dim()");
  if (rows && least.numel() == 0) {
    auto size = x.size(axis);
    constexpr auto infinity = std::numeric_limits<float>::infinity();
    least.resize_(size).fill_(infinity);
    greatest.resize_(size).fill_(-infinity);
    scale.resize_(size);
    zero.resize_(size);
  }
  observe(rows ? x.transpose(0, axis).flatten(1) : x, observe_on, least, greatest, constant, rows);
  choose(least, greatest, fake_on, scale, zero, low, high, symmetric);
  if (!rows)
    return at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(x, scale, zero, fake_on, low, high);
  if (fake_on.item<std::int64_t>())
    return at::fake_quantize_per_channel_affine_cachemask(x, scale, zero, axis, low, high);
  return {x.clone(), at::ones_like(x, x.options().dtype(at::kBool))};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("fake_quantize_per_tensor_affine_cachemask", per_tensor);
  m.impl("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", per_tensor_of_tensors);
  m.impl("fake_quantize_per_channel_affine_cachemask", per_channel);
  m.impl("_fake_quantize_learnable_per_tensor_affine",
         at::native::_fake_quantize_learnable_per_tensor_affine);
  m.impl("_fake_quantize_learnable_per_tensor_affine_backward", learnable_per_tensor_backward);
  m.impl("_fake_quantize_learnable_per_channel_affine",
         at::native::_fake_quantize_learnable_per_channel_affine);
  m.impl("_fake_quantize_learnable_per_channel_affine_backward", learnable_per_channel_backward);
  m.impl("_fused_moving_avg_obs_fq_helper", observed);
}

}  // namespace torch_xpu
