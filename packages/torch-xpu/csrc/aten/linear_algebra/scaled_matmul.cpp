// Products of floats of eight and four bits, whose operands have scales: one for all, one a row, or one a
// block.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/scaled_rows.h"
#include "ops/structured.h"
#include "ops/torch_versions.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::blas::ScalingType;
using at::blas::SwizzleType;
using OptionalTensor = std::optional<Tensor>;

// Results of eight bits are multiplied by their own scale and, as in other products, do not overflow.
void compute_narrow(const ScaledRows& a, const ScaledRows& b, const OptionalTensor& bias,
                    const OptionalTensor& scale, const Tensor& c) {
  auto wide = at::empty(c.sizes(), c.options().dtype(at::kFloat));
  multiply_scaled(a, b, bias, wide);
  if (given(scale)) wide.mul_(*scale);
  double largest = c.scalar_type() == at::kFloat8_e4m3fn ? 448 : 57344;
  c.copy_(wide.clamp_(-largest, largest));
}

void check_bias(const OptionalTensor& bias, const ScaledRows& b) {
  if (!given(bias)) return;
  TORCH_CHECK(bias->numel() == b.count(), "Bias must be size ", b.count(), " but got ", bias->numel());
  auto type = bias->scalar_type();
  TORCH_CHECK(type == at::kBFloat16 || type == at::kHalf || type == at::kFloat,
              "Bias must be BFloat16, Half or Float, but got ", type);
}

void check_sixteens(const ScaledRows& a, const ScaledRows& b) {
  TORCH_CHECK(a.has_pairs() == b.has_pairs(), "Invalid scaling configuration: no product of ",
              a.matrix.scalar_type(), " by ", b.matrix.scalar_type());
  TORCH_CHECK(a.length() % 16 == 0,
              "Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: (", a.count(),
              "x", a.length(), ").");
  TORCH_CHECK(b.length() % 16 == 0 && b.count() % 16 == 0, "mat2 shape (", b.length(), "x", b.count(),
              ") must be divisible by 16");
}

Tensor& run(const ScaledRows& a, const ScaledRows& b, const OptionalTensor& bias,
            const OptionalTensor& scale_result, std::optional<at::ScalarType> out_dtype, Tensor& out) {
  TORCH_CHECK(!out_dtype || !out.defined() || *out_dtype == out.scalar_type(),
              "out_dtype must match output matrix type");
  check_bias(bias, b);
  auto type = out_dtype ? *out_dtype : out.defined() ? out.scalar_type() : a.matrix.scalar_type();
  bool narrow = type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2;
  TORCH_CHECK(narrow || type == at::kFloat || type == at::kHalf || type == at::kBFloat16,
              "out_dtype must be a float of 8, 16 or 32 bits, got ", type);
  make_output(out, {a.count(), b.count()}, {}, a.matrix.options().dtype(type));
  if (out.numel() == 0) return out;
  if (a.length() == 0) return out.zero_();
  if (narrow)
    compute_narrow(a, b, bias, scale_result, out);
  else
    multiply_scaled(a, b, bias, out);
  return out;
}

// Finds out what the scales' shapes say.
void recognize(ScaledRows& a, ScaledRows& b) {
  auto as_given = b.scale;
  for (auto& pair : scaling_pairs) {
    bool bytes = pair[1] == ScalingType::BlockWise1x32 || pair[1] == ScalingType::BlockWise1x16;
    b.scale = bytes || as_given.dim() != 2 ? as_given : as_given.t();
    if (!has_scaling(a, pair[0]) || !has_scaling(b, pair[1])) continue;
    a.type = pair[0];
    b.type = pair[1];
    return;
  }
  auto m = a.count(), n = b.count(), k = a.length();
  TORCH_CHECK(false,
              "Invalid scaling configuration. Expected float8 matrices and float scales: one number "
              "for each, or (",
              m, ", 1) and (1, ", n, "), or (", m, ", ", at::ceil_div<std::int64_t>(k, 128), ") and (",
              at::ceil_div<std::int64_t>(k, 128), ", ", n, ") for blocks of 1x128, or (",
              at::ceil_div<std::int64_t>(m, 128), ", ", at::ceil_div<std::int64_t>(k, 128), ") and (",
              at::ceil_div<std::int64_t>(k, 128), ", ", at::ceil_div<std::int64_t>(n, 128),
              ") for blocks of 128x128, of which one may be "
              "of 1x128; or float8_e8m0fnu scales for blocks of 1x32; or float4 matrices with those, or with "
              "float8_e4m3fn scales for blocks of 1x16. Got ",
              a.matrix.scalar_type(), " with scales ", a.scale.scalar_type(), a.scale.sizes(), " and ",
              b.matrix.scalar_type(), " with scales ", as_given.scalar_type(), as_given.sizes());
}

Tensor& scaled_mm_out(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b,
                      const OptionalTensor& bias, const OptionalTensor& scale_result,
                      std::optional<at::ScalarType> out_dtype, bool, Tensor& out) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, scale_a, scale_b, bias, scale_result, out);
  TORCH_CHECK(a.dim() == 2, "mat1 must be a matrix");
  TORCH_CHECK(b.dim() == 2, "mat2 must be a matrix");
  TORCH_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  ScaledRows left{a, scale_a}, right{b.t(), scale_b};
  recognize(left, right);
  TORCH_CHECK(
      !given(scale_result) || (scale_result->numel() == 1 && scale_result->scalar_type() == at::kFloat),
      "scale_result must be a float scalar");
  check_sixteens(left, right);
  return run(left, right, bias, scale_result, out_dtype, out);
}

Tensor scaled_mm(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b,
                 const OptionalTensor& bias, const OptionalTensor& scale_result,
                 std::optional<at::ScalarType> out_dtype, bool fast) {
  Tensor out;
  return scaled_mm_out(a, b, scale_a, scale_b, bias, scale_result, out_dtype, fast, out);
}

// Where the scaling is said, blocks of 128x128 come turned round, and padded to a multiple of four of them.
Tensor as_recipe_says(const ScaledRows& x) {
  if (x.type == ScalingType::RowWise && x.scale.numel() == x.count()) return x.scale.reshape({x.count(), 1});
  if (x.type != ScalingType::BlockWise128x128 || x.scale.dim() != 2) return x.scale;
  auto along = at::ceil_div<std::int64_t>(x.length(), 128);
  return x.scale.size(0) == at::ceil_div<std::int64_t>(along, 4) * 4 ? x.scale.t().narrow(1, 0, along)
                                                                     : x.scale.t();
}

ScaledRows described(const char* which, const Tensor& matrix, at::TensorList scales, at::IntArrayRef recipe,
                     at::IntArrayRef swizzle) {
  bool has_factor = recipe.size() == 2 && static_cast<ScalingType>(recipe[0]) == ScalingType::BlockWise1x16 &&
                    static_cast<ScalingType>(recipe[1]) == ScalingType::TensorWise;
  TORCH_CHECK_VALUE(
      scales.size() == recipe.size() && (recipe.size() == 1 || has_factor) && swizzle.size() <= recipe.size(),
      "Invalid scaling configuration: expected one scale and one recipe for ", which,
      ", or blocks of 1x16 and one for all, got ", scales.size(), " and ", recipe.size());
  ScaledRows x{matrix, scales[0], static_cast<ScalingType>(recipe[0])};
  if (has_factor) {
    x.factor = scales[1];
    TORCH_CHECK_VALUE(x.factor.numel() == 1 && x.factor.scalar_type() == at::kFloat,
                      "Invalid scaling configuration: the scale of all numbers of ", which,
                      " must be one float, got ", x.factor.scalar_type(), " of ", x.factor.numel());
    check_one_device(matrix, x.factor);
  }
  x.swizzled = !swizzle.empty() && static_cast<SwizzleType>(swizzle[0]) == SwizzleType::SWIZZLE_32_4_4;
  x.scale = as_recipe_says(x);
  TORCH_CHECK_VALUE(has_scaling(x, x.type), "Invalid scaling configuration: ", which, " of type ",
                    matrix.scalar_type(), " and size ", matrix.sizes(), " cannot have scales ",
                    scales[0].scalar_type(), scales[0].sizes(), " of scaling type ", recipe[0]);
  return x;
}

std::vector<Tensor> to_vector(ScaleList scales) {
  return {scales.begin(), scales.end()};
}

Tensor& scaled_mm_v2_out(const Tensor& a, const Tensor& b, ScaleList scale_a, at::IntArrayRef recipe_a,
                         at::IntArrayRef swizzle_a, ScaleList scale_b, at::IntArrayRef recipe_b,
                         at::IntArrayRef swizzle_b, const OptionalTensor& bias,
                         std::optional<at::ScalarType> out_dtype, at::IntArrayRef contraction, bool,
                         Tensor& out) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, scale_a, scale_b, bias, out);
  TORCH_CHECK_VALUE(a.dim() == 2, "mat_a must be a matrix");
  TORCH_CHECK_VALUE(b.dim() == 2, "mat_b must be a matrix");
  TORCH_CHECK_VALUE(contraction.empty() || contraction.size() == 2,
                    "contraction_dim must have exactly 2 "
                    "elements");
  auto of_a = contraction.empty() ? 1 : contraction[0], of_b = contraction.empty() ? 0 : contraction[1];
  TORCH_CHECK_VALUE(a.size(of_a) == b.size(of_b) && a.size(1) == b.size(0),
                    "mat_a and mat_b shapes cannot be multiplied (", a.size(0), "x", a.size(1), " and ",
                    b.size(0), "x", b.size(1), ")");
  auto left = described("mat_a", a, to_vector(scale_a), recipe_a, swizzle_a);
  auto right = described("mat_b", b.t(), to_vector(scale_b), recipe_b, swizzle_b);
  bool known = false;
  for (auto& pair : scaling_pairs) known |= left.type == pair[0] && right.type == pair[1];
  TORCH_CHECK_VALUE(known, "Invalid scaling configuration: no product of operands of scaling types ",
                    recipe_a[0], " and ", recipe_b[0]);
  check_sixteens(left, right);
  return run(left, right, bias, {}, out_dtype, out);
}

Tensor scaled_mm_v2(const Tensor& a, const Tensor& b, ScaleList scale_a, at::IntArrayRef recipe_a,
                    at::IntArrayRef swizzle_a, ScaleList scale_b, at::IntArrayRef recipe_b,
                    at::IntArrayRef swizzle_b, const OptionalTensor& bias,
                    std::optional<at::ScalarType> out_dtype, at::IntArrayRef contraction, bool fast) {
  Tensor out;
  return scaled_mm_v2_out(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype,
                          contraction, fast, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_scaled_mm", scaled_mm);
  m.impl("_scaled_mm.out", scaled_mm_out);
  m.impl("_scaled_mm_v2", scaled_mm_v2);
  m.impl("_scaled_mm_v2.out", scaled_mm_v2_out);
}

}  // namespace torch_xpu
