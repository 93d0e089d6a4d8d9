// Variances and standard deviations.
//
// Both are called spreads here; with `root` a spread is the standard deviation, the root of the variance.
#include <ATen/native/Resize.h>
#include <ATen/ops/add.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/view_as_real.h>

#include <torch/library.h>
#include "ops/arguments.h"
#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::OptionalIntArrayRef;
using at::Scalar;
using at::Tensor;
// What is subtracted from the number of elements to give the divisor; 1 if absent.
using Correction = const std::optional<Scalar>&;

struct Moments {
  Tensor spread, mean;
};

Moments real_moments(const Tensor& self, OptionalIntArrayRef dims, double correction, bool keepdim,
                     bool root) {
  auto type = self.scalar_type();
  Moments m{empty_reduced(self, dims, keepdim, type), empty_reduced(self, dims, keepdim, type)};
  auto elements_per_result = m.spread.numel() ? self.numel() / m.spread.numel() : 1;
  if (static_cast<double>(elements_per_result) <= correction)
    TORCH_WARN(root ? "std" : "var",
               "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
               "(input numel divided by output numel).");
  reduce(xpu::kernels::reduction(root ? "std_mean" : "var_mean"), {m.spread, m.mean}, {self}, dims,
         {correction});
  return m;
}

Moments moments(const Tensor& self, OptionalIntArrayRef dims, Correction correction, bool keepdim,
                bool root) {
  auto guard = guard_for(self);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()) || self.is_complex(),
              "std and var only support floating point and complex dtypes");
  double subtracted = correction ? correction->toDouble() : 1;
  dims = all_if_empty(dims);
  if (!self.is_complex()) return real_moments(self, dims, subtracted, keepdim, root);
  // The variance of complex numbers is the sum of the variances of their parts.
  auto parts = at::view_as_real(self);
  auto re = real_moments(parts.select(-1, 0), dims, subtracted, keepdim, false);
  auto im = real_moments(parts.select(-1, 1), dims, subtracted, keepdim, false);
  auto spread = at::add(re.spread, im.spread);
  return {root ? at::sqrt(spread) : spread, at::complex(re.mean, im.mean)};
}

template <bool root>
Tensor spread(const Tensor& self, OptionalIntArrayRef dims, Correction correction, bool keepdim) {
  return moments(self, dims, correction, keepdim, root).spread;
}
template <bool root>
Tensor& spread_out(const Tensor& self, OptionalIntArrayRef dims, Correction correction, bool keepdim,
                   Tensor& out) {
  check_one_device(self, out);
  check_holds(out, c10::toRealValueType(self.scalar_type()));
  auto result = spread<root>(self, dims, correction, keepdim);
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}
template <bool root>
std::tuple<Tensor, Tensor> spread_and_mean(const Tensor& self, OptionalIntArrayRef dims,
                                           Correction correction, bool keepdim) {
  auto m = moments(self, dims, correction, keepdim, root);
  return {m.spread, m.mean};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("var.correction", spread<false>);
  m.impl("var.correction_out", spread_out<false>);
  m.impl("var_mean.correction", spread_and_mean<false>);
  m.impl("std.correction", spread<true>);
  m.impl("std.correction_out", spread_out<true>);
  m.impl("std_mean.correction", spread_and_mean<true>);
}

}  // namespace torch_xpu
