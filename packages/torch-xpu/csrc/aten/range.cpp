// arange, range, linspace and logspace: each element is computed from its index.
#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/RangeUtils.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/kernels/elementwise.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using xpu::kernels::Elementwise;
using Complex = std::complex<double>;

// Calls `fill` with a contiguous one-dimensional view of `out`, or of a temporary that is then copied to
// `out`. An empty `out` needs no call.
template <class Fill>
void fill_line(const Tensor& out, Fill fill) {
  if (out.numel() == 0) return;
  auto line = out.is_contiguous() ? out.view(-1) : at::empty({out.numel()}, out.options());
  translate_errors([&] { fill(view_of(line)); });
  if (!out.is_contiguous()) out.copy_(line.view(out.sizes()));
}

// out[i] = start + i * step, computed in the dtype of `out`.
void fill_steps(const Tensor& out, const Scalar& start, const Scalar& step) {
  static const auto& rule = *new Elementwise({.name = "steps",
                                              .outputs = {"p0 + T(index) * p1"},
                                              .inputs = 0,
                                              .scalars = 2,
                                              .headers = {"math", "complex"},
                                              .uses_index = true});
  const xpu::Scalar scalars[] = {scalar_of(start), scalar_of(step)};
  fill_line(out, [&](const xpu::Tensor& to) {
    rule(stream_of(out), std::span(&to, 1), {}, scalars, dtype_of(out.scalar_type()));
  });
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  auto guard = guard_for(out);
  std::int64_t size = 0;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "arange_xpu",
                             [&] { size = at::native::compute_arange_size<scalar_t>(start, end, step); });
  if (out.numel() != size) {
    if (out.numel() > 0)
      TORCH_WARN("The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(),
                 " which does not match the computed number of elements ", size,
                 ". Note that this may occur as a result of rounding error. The out tensor will be resized "
                 "to a tensor of shape (",
                 size, ",).");
    out.resize_({size});
  }
  fill_steps(out, start, step);
  return out;
}

Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  auto guard = guard_for(out);
  at::native::arange_check_bounds(start, end, step);
  auto size = static_cast<std::int64_t>((end.toDouble() - start.toDouble()) / step.toDouble() + 1);
  if (out.numel() != size) out.resize_({size});
  fill_steps(out, start, step);
  return out;
}

// `limit`, the start or the end, as an output of `type` holds it. For integral types, a fraction is cut off,
// a negative number wraps if the type is unsigned and holds its magnitude, and any other number that is out
// of range throws.
Complex limit_in(at::ScalarType type, const Scalar& limit) {
  if (at::isIntegralType(type, false))
    return AT_DISPATCH_V2(type, "linspace_xpu",
                          AT_WRAP([&] { return Complex(static_cast<double>(limit.to<scalar_t>())); }),
                          AT_EXPAND(AT_INTEGRAL_TYPES_V2));
  auto z = limit.toComplexDouble();
  return {z.real(), z.imag()};
}

// The dtype to compute in. For integral outputs it is f64, since the step has a fraction and i64 more digits
// than f32; f32 on devices without f64.
xpu::DType compute_type(const Tensor& out) {
  if (!at::isIntegralType(out.scalar_type(), true)) return dtype_of(out.scalar_type());
  return xpu::device_info(out.get_device()).fp64 ? xpu::DType::f64 : xpu::DType::f32;
}

// Evaluates `rule` at `steps` evenly spaced numbers. The lower half counts up from `start` and the upper half
// down from `end`, so that the last number is `end` exactly. `base` is the rule's third scalar.
void fill_spaced(const Elementwise& rule, const Scalar& start, const Scalar& end, std::int64_t steps,
                 double base, Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  auto guard = guard_for(out);
  if (out.numel() != steps) out.resize_({steps});
  auto type = out.scalar_type();
  Complex first = limit_in(type, start), last = limit_in(type, end);
  Complex step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  auto compute = compute_type(out);
  fill_line(out, [&](const xpu::Tensor& to) {
    auto stream = stream_of(out);
    auto run = [&](const xpu::Tensor& part, Complex from, Complex by) {
      const xpu::Scalar scalars[] = {from, by, base};
      if (part.numel()) rule(stream, std::span(&part, 1), {}, scalars, compute);
    };
    auto lower = to, upper = to;
    // As in PyTorch, the middle of an odd number of elements belongs to the upper half, but a single element
    // to the lower one. They would round differently.
    lower.shape[0] = std::max<std::int64_t>(steps / 2, steps == 1);
    upper.shape[0] = steps - lower.shape[0];
    // The upper half begins at the last element and goes backwards.
    upper.data = static_cast<char*>(to.data) + (steps - 1) * static_cast<std::int64_t>(out.element_size());
    upper.strides[0] = -1;
    run(lower, first, step);
    run(upper, last, -step);
  });
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, std::int64_t steps, Tensor& out) {
  // The third scalar is logspace's base, which this rule does not use.
  static const auto& rule = *new Elementwise({.name = "linspace",
                                              .outputs = {"p0 + T(index) * p1"},
                                              .inputs = 0,
                                              .scalars = 3,
                                              .headers = {"math", "complex"},
                                              .uses_index = true});
  fill_spaced(rule, start, end, steps, 0, out);
  return out;
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, std::int64_t steps, double base, Tensor& out) {
  static const auto& real = *new Elementwise({.name = "logspace",
                                              .outputs = {"xpu::pow(p2, p0 + T(index) * p1)"},
                                              .inputs = 0,
                                              .scalars = 3,
                                              .headers = {"math", "exp"},
                                              .uses_index = true});
  static const auto& complex = *new Elementwise({.name = "logspace_complex",
                                                 .outputs = {"xpu::pow(p2, p0 + T(index) * p1)"},
                                                 .inputs = 0,
                                                 .scalars = 3,
                                                 .headers = {"complex_math"},
                                                 .uses_index = true});
  fill_spaced(at::isComplexType(out.scalar_type()) ? complex : real, start, end, steps, base, out);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("arange.start_out", arange_out);
  m.impl("range.out", range_out);
  m.impl("linspace.out", linspace_out);
  m.impl("logspace.out", logspace_out);
}

}  // namespace torch_xpu
