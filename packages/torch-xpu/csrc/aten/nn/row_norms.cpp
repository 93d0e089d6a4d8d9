// Layer and RMS normalization: over the last dimensions of the input, which make a row.
#include <ATen/AccumulateType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <limits>

#include "ops/arguments.h"
#include "ops/reduce.h"
#include "ops/row_kernel.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using MaybeTensor = const std::optional<Tensor>&;
using Pass = RowExpression::Pass;

// The input as [rows, length, 1], and the shape of its statistics.
struct Layout {
  std::int64_t rows = 1, length = 1;
  at::DimVector statistics;

  Layout(const Tensor& x, IntArrayRef normalized, const char* name) {
    auto outer_dims = x.dim() - static_cast<std::int64_t>(normalized.size());
    TORCH_CHECK(!normalized.empty(), name, ": expected normalized_shape to have at least 1 dimension");
    TORCH_CHECK(outer_dims >= 0 && x.sizes().slice(static_cast<std::size_t>(outer_dims)) == normalized, name,
                ": Given normalized_shape=", normalized,
                ", expected input with shape [*, normalized_shape], but got input of size", x.sizes());
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      (d < outer_dims ? rows : length) *= x.size(d);
      statistics.push_back(d < outer_dims ? x.size(d) : 1);
    }
  }
  Tensor rows_of(const Tensor& x) const { return x.contiguous().view({rows, length, 1}); }
  Tensor each_row(const Tensor& value) const {
    return value.contiguous().view({rows, 1, 1}).expand({rows, length, 1});
  }
  Tensor each_column(const Tensor& value) const {
    return value.contiguous().view({1, length, 1}).expand({rows, length, 1});
  }
  Tensor row_output(const Tensor& value) const { return value.view({rows, 1}); }
};

void check_parameter(MaybeTensor parameter, IntArrayRef normalized, const char* what) {
  TORCH_CHECK(!parameter || !parameter->defined() || parameter->sizes() == normalized, "Expected ", what,
              " to be of same shape as normalized_shape, but got ", what, " of shape ", parameter->sizes(),
              " and normalized_shape = ", normalized);
}
// The kernel without parameters, with a weight, and with a weight and a bias.
const RowKernel& layer_norm_rows(bool weight, bool bias) {
  static const auto make = [](const char* name, int inputs, const char* scaled) {
    return new RowKernel(
        {.name = name,
         .passes = {Pass{{{"T", "0"}}, "s0 += a0;", "s0 += r0;", "T mean = s0 / (T)length;"},
                    Pass{{{"T", "0"}},
                         "T d = a0 - mean; s1 += d * d;",
                         "s1 += r1;",
                         "T variance = s1 / (T)length;"},
                    // The mean was rounded: where that shows, what it was off by is in the differences.
                    Pass{{{"T", "0"}},
                         "s2 += a0 - mean;",
                         "s2 += r2;",
                         "T off = s2 / (T)length;"
                         "variance = xpu::max_of(variance - off * off, (T)0);"
                         "T rstd = (T)1 / xpu::sqrt(variance + p0);",
                         "mean * mean > (T)1e4 * variance"}},
         .outputs = {scaled},
         .row_outputs = {"mean + off", "rstd"},
         .inputs = inputs,
         .scalars = 1});
  };
  static const RowKernel* const all[] = {make("layer_norm", 1, "(a0 - mean - off) * rstd"),
                                         make("layer_norm_weight", 2, "(a0 - mean - off) * rstd * a1"),
                                         make("layer_norm_bias", 2, "(a0 - mean - off) * rstd + a1"),
                                         make("layer_norm_affine", 3, "(a0 - mean - off) * rstd * a1 + a2")};
  return *all[weight + 2 * bias];
}

std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& x, IntArrayRef normalized, MaybeTensor weight,
                                              MaybeTensor bias, double epsilon) {
  auto guard = guard_for(x, weight, bias);
  check_one_device(x, weight, bias);
  check_parameter(weight, normalized, "weight");
  check_parameter(bias, normalized, "bias");
  Layout layout(x, normalized, "layer_norm");
  auto y = at::empty_like(x, at::MemoryFormat::Contiguous);
  auto mean = at::empty(layout.statistics, x.options().dtype(statistics_type(x)));
  auto rstd = at::empty_like(mean);
  if (x.numel() == 0) {
    // Rows without elements have these.
    mean.zero_();
    rstd.fill_(std::numeric_limits<double>::quiet_NaN());
    return {y, mean, rstd};
  }
  c10::SmallVector<Tensor, 3> inputs{layout.rows_of(x)};
  if (given(weight)) inputs.push_back(layout.each_column(*weight));
  if (given(bias)) inputs.push_back(layout.each_column(*bias));
  layer_norm_rows(given(weight), given(bias))(
      {layout.rows_of(y)}, {layout.row_output(mean), layout.row_output(rstd)}, inputs, {epsilon});
  return {y, mean, rstd};
}

// Of the input: a0 is the gradient, a1 the input, a2 and a3 its mean and 1 / deviation, a4 the weight.
const RowKernel& layer_norm_backward_rows(bool weight) {
  static const auto make = [](const char* name, int inputs, std::string g) {
    return new RowKernel({.name = name,
                          .passes = {Pass{{{"T", "0"}, {"T", "0"}},
                                          "T g = " + g + "; s0 += g; s1 += g * (a1 - a2) * a3;",
                                          "s0 += r0; s1 += r1;",
                                          "s0 /= (T)length; s1 /= (T)length;"}},
                          .outputs = {"(" + g + " - s0 - (a1 - a2) * a3 * s1) * a3"},
                          .inputs = inputs});
  };
  static const RowKernel *plain = make("layer_norm_backward", 4, "a0"),
                         *weighted = make("layer_norm_weight_backward", 5, "(a0 * a4)");
  return weight ? *weighted : *plain;
}

using xpu::kernels::Reduction;
const Reduction& parameter_gradients() {
  static const auto& both = *new Reduction({.name = "norm_parameter_gradients",
                                            .accumulators = {{"T", "0"}, {"T", "0"}},
                                            .map = {"a0 * (a1 - a2) * a3", "a0"},
                                            .combine = "s0 += r0; s1 += r1;",
                                            .outputs = {"s0", "s1"},
                                            .inputs = 4});
  return both;
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& grad, const Tensor& x,
                                                       IntArrayRef normalized, const Tensor& mean,
                                                       const Tensor& rstd, MaybeTensor weight,
                                                       MaybeTensor bias, std::array<bool, 3> wanted) {
  auto guard = guard_for(grad, x, mean, rstd, weight);
  check_one_device(grad, x, mean, rstd, weight);
  Layout layout(x, normalized, "layer_norm");
  Tensor dx, dweight, dbias;
  if (wanted[0]) dx = at::empty_like(x, at::MemoryFormat::Contiguous);
  auto options = given(weight) ? weight->options() : given(bias) ? bias->options() : x.options();
  if (wanted[1] || wanted[2]) {
    dweight = at::empty(normalized, options);
    dbias = at::empty(normalized, given(bias) ? bias->options() : options);
  }
  auto g = layout.rows_of(grad), rows = layout.rows_of(x);
  auto m = layout.each_row(mean), r = layout.each_row(rstd);
  if (wanted[0] && x.numel() > 0) {
    c10::SmallVector<Tensor, 5> inputs{g, rows, m, r};
    if (given(weight)) inputs.push_back(layout.each_column(*weight));
    layer_norm_backward_rows(given(weight))({layout.rows_of(dx)}, {}, inputs);
  }
  if (dweight.defined())
    reduce(parameter_gradients(), {dweight.view({layout.length, 1}), dbias.view({layout.length, 1})},
           {g, rows, m, r}, IntArrayRef(0), {}, statistics_type(x));
  return {dx, wanted[1] ? dweight : Tensor(), wanted[2] ? dbias : Tensor()};
}

const RowKernel& rms_norm_rows(bool weight) {
  static const auto make = [](const char* name, int inputs, const char* scaled) {
    return new RowKernel(
        {.name = name,
         .passes = {Pass{
             {{"T", "0"}}, "s0 += a0 * a0;", "s0 += r0;", "T rstd = (T)1 / xpu::sqrt(s0 / (T)length + p0);"}},
         .outputs = {scaled},
         .row_outputs = {"rstd"},
         .inputs = inputs,
         .scalars = 1});
  };
  static const RowKernel *plain = make("rms_norm", 1, "a0 * rstd"),
                         *weighted = make("rms_norm_weight", 2, "a0 * rstd * a1");
  return weight ? *weighted : *plain;
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& x, IntArrayRef normalized, MaybeTensor weight,
                                    std::optional<double> epsilon) {
  auto guard = guard_for(x, weight);
  check_one_device(x, weight);
  check_parameter(weight, normalized, "weight");
  Layout layout(x, normalized, "rms_norm");
  auto y = at::empty_like(x, at::MemoryFormat::Contiguous);
  auto rstd = at::empty(layout.statistics, x.options().dtype(statistics_type(x)));
  if (x.numel() == 0) return {y, rstd};
  c10::SmallVector<Tensor, 2> inputs{layout.rows_of(x)};
  if (given(weight)) inputs.push_back(layout.each_column(*weight));
  double smallest = x.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                   : std::numeric_limits<float>::epsilon();
  rms_norm_rows(given(weight))({layout.rows_of(y)}, {layout.row_output(rstd)}, inputs,
                               {epsilon.value_or(smallest)});
  return {y, rstd};
}

// As for layer norm with a mean of 0: a2 is 1 / deviation, a3 the weight.
const RowKernel& rms_norm_backward_rows(bool weight) {
  static const auto make = [](const char* name, int inputs, std::string g) {
    return new RowKernel(
        {.name = name,
         .passes = {Pass{{{"T", "0"}}, "s0 += " + g + " * a1 * a2;", "s0 += r0;", "s0 /= (T)length;"}},
         .outputs = {"(" + g + " - a1 * a2 * s0) * a2"},
         .inputs = inputs});
  };
  static const RowKernel *plain = make("rms_norm_backward", 3, "a0"),
                         *weighted = make("rms_norm_weight_backward", 4, "(a0 * a3)");
  return weight ? *weighted : *plain;
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& x, IntArrayRef normalized,
                                             const Tensor& rstd, MaybeTensor weight,
                                             std::array<bool, 2> wanted) {
  static const auto& of_weight = *new Reduction({.name = "rms_norm_weight_gradient",
                                                 .accumulators = {{"T", "0"}},
                                                 .map = {"a0 * a1 * a2"},
                                                 .combine = "s0 += r0;",
                                                 .outputs = {"s0"},
                                                 .inputs = 3});
  auto guard = guard_for(grad, x, rstd, weight);
  check_one_device(grad, x, rstd, weight);
  Layout layout(x, normalized, "rms_norm");
  Tensor dx, dweight;
  auto g = layout.rows_of(grad), rows = layout.rows_of(x), r = layout.each_row(rstd);
  if (wanted[0]) {
    dx = at::empty_like(x, at::MemoryFormat::Contiguous);
    c10::SmallVector<Tensor, 4> inputs{g, rows, r};
    if (given(weight)) inputs.push_back(layout.each_column(*weight));
    if (x.numel() > 0) rms_norm_backward_rows(given(weight))({layout.rows_of(dx)}, {}, inputs);
  }
  if (wanted[1] && given(weight)) {
    dweight = at::empty_like(*weight, at::MemoryFormat::Contiguous);
    reduce(of_weight, {dweight.view({layout.length, 1})}, {g, rows, r}, IntArrayRef(0), {},
           statistics_type(x));
  }
  return {dx, dweight};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("native_layer_norm", layer_norm);
  m.impl("native_layer_norm_backward", layer_norm_backward);
  m.impl("_fused_rms_norm", rms_norm);
  m.impl("_fused_rms_norm_backward", rms_norm_backward);
}

}  // namespace torch_xpu
