// Tensors filled with random numbers.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/DistributionTemplates.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/view_as_real.h>
#include <torch/library.h>

#include <cmath>
#include <limits>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/assertion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/random.h"
#include "ops/tensor.h"
#include "xpu/kernels/sort.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using MaybeGenerator = std::optional<at::Generator>;
namespace kernels = xpu::kernels;

template <class Fill, class... Parameters>
Tensor& fill(Fill* fill, Tensor& self, const MaybeGenerator& generator, Parameters... parameters) {
  if (self.numel() == 0) return self;
  at::assert_no_internal_overlap(self);
  auto guard = guard_for(self);
  auto source = take_random(generator, self, numbers_per_fill);
  translate_errors([&] { fill(stream_of(self), source, view_of(self), parameters...); });
  return self;
}

void check_float(const char* name, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(self.scalar_type()), "\"", name, "\" not implemented for '",
                              self.scalar_type(), "'");
}

Tensor& uniform_(Tensor& self, double low, double high, MaybeGenerator generator) {
  if (self.is_complex()) {
    auto parts = at::view_as_real(self);
    uniform_(parts, low, high, generator);
    return self;
  }
  check_float("uniform_", self);
  TORCH_CHECK(low <= high, "uniform_ expects to return a [from, to) range, but found from=", low,
              " > to=", high);
  return fill(kernels::uniform, self, generator, low, high);
}

Tensor& normal_(Tensor& self, double mean, double deviation, MaybeGenerator generator) {
  TORCH_CHECK(deviation >= 0, "normal expects std >= 0.0, but found std ", deviation);
  if (self.is_complex()) {
    // The variance is that of both parts together.
    auto parts = at::view_as_real(self);
    normal_(parts, 0, deviation / std::sqrt(2.0), generator);
    self.add_(mean);
    return self;
  }
  check_float("normal_", self);
  return fill(kernels::normal, self, generator, mean, deviation);
}

Tensor& log_normal_(Tensor& self, double mean, double deviation, MaybeGenerator generator) {
  TORCH_CHECK(deviation > 0, "log_normal_ expects std > 0.0, but found std=", deviation);
  check_float("log_normal_", self);
  return fill(kernels::log_normal, self, generator, mean, deviation);
}
Tensor& exponential_(Tensor& self, double rate, MaybeGenerator generator) {
  TORCH_CHECK(rate > 0, "exponential_ expects lambda > 0.0, but found lambda=", rate);
  check_float("exponential_", self);
  return fill(kernels::exponential, self, generator, rate);
}
Tensor& cauchy_(Tensor& self, double median, double scale, MaybeGenerator generator) {
  TORCH_CHECK(scale > 0, "cauchy_ expects sigma > 0.0, but found sigma=", scale);
  check_float("cauchy_", self);
  return fill(kernels::cauchy, self, generator, median, scale);
}
Tensor& geometric_(Tensor& self, double p, MaybeGenerator generator) {
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  return fill(kernels::geometric, self, generator, p);
}

using OneChance = void(xpu::Stream, kernels::RandomSource, const xpu::Tensor&, double);
using Chances = void(xpu::Stream, kernels::RandomSource, const xpu::Tensor&, const xpu::Tensor&);

Tensor& bernoulli_float(Tensor& self, double p, MaybeGenerator generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return fill(static_cast<OneChance*>(kernels::bernoulli), self, generator, p);
}
Tensor& bernoulli_tensor(Tensor& self, const Tensor& p, MaybeGenerator generator) {
  auto here = p.to(self.device());
  auto chances = at::expand_inplace(self, here, "bernoulli_");
  if (at::isFloatingType(here.scalar_type()))
    assert_probabilities("bernoulli", "expected probabilities between 0 and 1; number {a} is not one", here);
  return fill(static_cast<Chances*>(kernels::bernoulli), self, generator, view_of(*chances));
}
Tensor& bernoulli_out(const Tensor& self, MaybeGenerator generator, Tensor& out) {
  at::native::resize_output(out, self.sizes());
  return bernoulli_tensor(out, self, generator);
}

// The largest integer up to which all integers are numbers of the dtype.
std::int64_t largest_whole(at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return 1;
    case at::kByte:
      return std::numeric_limits<std::uint8_t>::max();
    case at::kChar:
      return std::numeric_limits<std::int8_t>::max();
    case at::kShort:
      return std::numeric_limits<std::int16_t>::max();
    case at::kUInt16:
      return std::numeric_limits<std::uint16_t>::max();
    case at::kInt:
      return std::numeric_limits<std::int32_t>::max();
    case at::kUInt32:
      return std::numeric_limits<std::uint32_t>::max();
    case at::kHalf:
      return std::int64_t{1} << 11;
    case at::kBFloat16:
      return std::int64_t{1} << 8;
    case at::kFloat:
      return std::int64_t{1} << 24;
    case at::kDouble:
      return std::int64_t{1} << 53;
    default:
      return std::numeric_limits<std::int64_t>::max();
  }
}

// Refuses what the dtype cannot hold, and moves the ends of a range of floats inward to numbers of the dtype,
// by PyTorch's own functions.
void fit_range(const Tensor& self, std::int64_t& low, std::int64_t& last, bool has_high) {
  namespace templates = at::native::templates;
  if (at::isFloatingType(self.scalar_type()))
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, self.scalar_type(), "random_", [&] {
      low = templates::update_from<scalar_t>(low);
      if (has_high) last = templates::update_to<scalar_t>(last + 1) - 1;
      TORCH_CHECK(
          !has_high || low <= last,
          "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=", low,
          " >= to=", last + 1);
      TORCH_CHECK(has_high || low < last,
                  "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
                  "dtype, but got from=",
                  low, " > to_inc=", last);
    });
  templates::check_from_to_in_range(low, last, self.dtype());
}

Tensor& random_from(Tensor& self, std::int64_t low, std::optional<std::int64_t> high,
                    MaybeGenerator generator) {
  TORCH_CHECK(!high || low < *high, "random_ expects 'from' to be less than 'to', but got from=", low,
              " >= to=", high.value_or(0));
  auto last = high ? *high - 1 : largest_whole(self.scalar_type());
  // From the lowest number on, without an end, are all 64 bits of PyTorch's.
  bool all_bits = !high && low == std::numeric_limits<std::int64_t>::lowest();
  if (!all_bits) fit_range(self, low, last, high.has_value());
  // 0 stands for 2 to the 64.
  auto count = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(low) + 1;
  return fill(kernels::random_integers, self, generator, low, count);
}
Tensor& random_to(Tensor& self, std::int64_t high, MaybeGenerator generator) {
  return random_from(self, 0, high, generator);
}
Tensor& random_(Tensor& self, MaybeGenerator generator) {
  auto count = static_cast<std::uint64_t>(largest_whole(self.scalar_type())) + 1;
  return fill(kernels::random_integers, self, generator, std::int64_t{0}, count);
}

// normal(): means and deviations of each element.
Tensor& normal_out(const Tensor& mean, const Tensor& deviation, MaybeGenerator generator, Tensor& out) {
  static const auto& shift =
      *new kernels::Elementwise({.name = "normal_scale_shift", .outputs = {"a0 * a2 + a1"}, .inputs = 3});
  TORCH_CHECK(!deviation.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(deviation.numel() == 0 || deviation.min().ge(0).item<bool>(),
              "normal expects all elements of std >= 0.0");
  check_one_device(mean, deviation, out);
  auto guard = guard_for(out);
  at::native::resize_output(out, at::infer_size(mean.sizes(), deviation.sizes()));
  normal_(out, 0, 1, generator);
  elementwise(shift, {out}, {out, mean, deviation}, {}, out.scalar_type());
  return out;
}
Tensor number(double value, const Tensor& like) {
  return at::empty({}, like.options()).fill_(value);
}
Tensor& normal_of_mean_out(const Tensor& mean, double deviation, MaybeGenerator generator, Tensor& out) {
  TORCH_CHECK(deviation >= 0, "normal expects std >= 0.0, but found std ", deviation);
  at::native::resize_output(out, mean.sizes());
  normal_(out, 0, deviation, generator);
  return out.add_(mean);
}
Tensor& normal_of_deviation_out(double mean, const Tensor& deviation, MaybeGenerator generator, Tensor& out) {
  return normal_out(number(mean, deviation), deviation, generator, out);
}
Tensor normal(const Tensor& mean, const Tensor& deviation, MaybeGenerator generator) {
  auto guard = guard_for(mean, deviation);
  auto out = at::empty({0}, mean.options());
  return normal_out(mean, deviation, generator, out);
}
Tensor normal_of_mean(const Tensor& mean, double deviation, MaybeGenerator generator) {
  auto out = at::empty(mean.sizes(), mean.options());
  return normal_of_mean_out(mean, deviation, generator, out);
}
Tensor normal_of_deviation(double mean, const Tensor& deviation, MaybeGenerator generator) {
  auto out = at::empty(deviation.sizes(), deviation.options());
  return normal_of_deviation_out(mean, deviation, generator, out);
}

// The order that random keys have.
Tensor& randperm_out(std::int64_t n, MaybeGenerator generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  TORCH_CHECK(n == 0 || n - 1 <= largest_whole(out.scalar_type()), "n is too large for result tensor type: '",
              out.toString(), "'");
  auto guard = guard_for(out);
  at::native::resize_output(out, {n});
  if (n == 0) return out;
  auto keys = at::empty({n}, out.options().dtype(at::kLong));
  fill(kernels::random_bits, keys, generator);
  auto order = out.scalar_type() == at::kLong ? out : at::empty_like(keys);
  translate_errors([&] { kernels::sort(stream_of(out), xpu::Tensor(), view_of(order), view_of(keys), 0); });
  if (!order.is_same(out)) out.copy_(order);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("uniform_", uniform_);
  m.impl("normal_", normal_);
  m.impl("log_normal_", log_normal_);
  m.impl("exponential_", exponential_);
  m.impl("cauchy_", cauchy_);
  m.impl("geometric_", geometric_);
  m.impl("bernoulli_.float", bernoulli_float);
  m.impl("bernoulli_.Tensor", bernoulli_tensor);
  m.impl("bernoulli.out", bernoulli_out);
  m.impl("random_", random_);
  m.impl("random_.to", random_to);
  m.impl("random_.from", random_from);
  m.impl("normal.Tensor_Tensor", normal);
  m.impl("normal.Tensor_Tensor_out", normal_out);
  m.impl("normal.Tensor_float", normal_of_mean);
  m.impl("normal.Tensor_float_out", normal_of_mean_out);
  m.impl("normal.float_Tensor", normal_of_deviation);
  m.impl("normal.float_Tensor_out", normal_of_deviation_out);
  m.impl("randperm.generator_out", randperm_out);
}

}  // namespace torch_xpu
