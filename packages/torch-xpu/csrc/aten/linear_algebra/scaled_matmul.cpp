// Products of eight-bit floats, whose operands have scales: one for all, one a row, or one a block.
#include <ATen/BlasBackend.h>
#include <ATen/ceil_div.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>

#include "device/errors.h"
#include "ops/elementwise.h"
#include "ops/gemm.h"
#include "ops/minifloat.h"
#include "ops/structured.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::blas::ScalingType;
using at::blas::SwizzleType;
using OptionalTensor = std::optional<Tensor>;

std::int64_t blocks(std::int64_t size, std::int64_t block) {
  return at::ceil_div(size, block);
}
std::int64_t rounded_up(std::int64_t size, std::int64_t to) {
  return blocks(size, to) * to;
}

// One operand as rows to be summed along: a, or b turned round. Its scale is turned the same way.
struct Rows {
  Tensor matrix, scale;
  ScalingType type = ScalingType::TensorWise;
  bool swizzled = true;

  std::int64_t count() const { return matrix.size(0); }
  std::int64_t length() const { return matrix.size(1); }
  bool whole() const { return type == ScalingType::TensorWise || type == ScalingType::RowWise; }
};

bool has_shape(const Tensor& scale, std::int64_t rows, std::int64_t columns) {
  return scale.dim() == 2 && scale.size(0) == rows && scale.size(1) == columns;
}

bool fits(const Rows& x, ScalingType type) {
  if (!at::isFloat8Type(x.matrix.scalar_type())) return false;
  if (type == ScalingType::BlockWise1x32)
    return x.scale.scalar_type() == at::kFloat8_e8m0fnu && x.scale.is_contiguous() &&
           x.scale.numel() == (x.swizzled ? rounded_up(x.count(), 128) * rounded_up(blocks(x.length(), 32), 4)
                                          : x.count() * blocks(x.length(), 32));
  if (x.scale.scalar_type() != at::kFloat) return false;
  switch (type) {
    case ScalingType::TensorWise:
      return x.scale.numel() == 1;
    case ScalingType::RowWise:
      return has_shape(x.scale, x.count(), 1);
    case ScalingType::BlockWise1x128:
      return has_shape(x.scale, x.count(), blocks(x.length(), 128));
    case ScalingType::BlockWise128x128:
      return has_shape(x.scale, blocks(x.count(), 128), blocks(x.length(), 128));
    default:
      return false;
  }
}

// Powers of two as [rows, blocks] of f32. Swizzled ones lie in tiles of 128 by 4, in which rows that are 32
// apart are neighbours.
Tensor powers_of_two(const Rows& x) {
  auto rows = x.count(), columns = blocks(x.length(), 32);
  auto powers = minifloat_to_f32(x.scale);
  if (!x.swizzled) return powers.view({rows, columns});
  return powers.view({blocks(rows, 128), blocks(columns, 4), 32, 4, 4})
      .permute({0, 3, 2, 1, 4})
      .reshape({rounded_up(rows, 128), rounded_up(columns, 4)})
      .narrow(0, 0, rows)
      .narrow(1, 0, columns);
}

// Repeats each scale for the elements of its block.
Tensor spread(const Tensor& scale, std::int64_t rows, std::int64_t columns, std::int64_t row_block,
              std::int64_t column_block) {
  auto r = scale.size(0), c = scale.size(1);
  return scale.view({r, 1, c, 1})
      .expand({r, row_block, c, column_block})
      .reshape({r * row_block, c * column_block})
      .narrow(0, 0, rows)
      .narrow(1, 0, columns);
}

// What an operand stands for whose scale changes along what is summed over.
Tensor scaled(const Rows& x) {
  static const auto& kernel =
      *new xpu::kernels::Elementwise({.name = "scale_blocks", .outputs = {"a0 * a1"}, .inputs = 2});
  bool small = x.type == ScalingType::BlockWise1x32;
  std::int64_t row_block = x.type == ScalingType::BlockWise128x128 ? 128 : 1;
  auto scale = small ? powers_of_two(x) : x.scale;
  auto out = at::empty(x.matrix.sizes(), x.matrix.options().dtype(at::kFloat));
  elementwise(kernel, {out},
              {x.matrix, spread(scale.contiguous(), x.count(), x.length(), row_block, small ? 32 : 128)}, {},
              at::kFloat);
  return out;
}

void compute(const Rows& a, const Rows& b, const OptionalTensor& bias, const Tensor& c) {
  auto options = matmul_options();
  Tensor row;
  if (given(bias)) {
    row = bias->reshape({b.count()});
    options.bias = view_of(row);
  }
  auto left = a.whole() ? a.matrix : scaled(a), right = b.whole() ? b.matrix : scaled(b);
  auto left_scale = a.scale, right_scale = b.scale;
  if (a.whole()) {
    left_scale = a.scale.contiguous().view({a.scale.numel(), 1});
    options.a.scale = view_of(left_scale);
  }
  if (b.whole()) {
    right_scale = b.scale.contiguous().view({1, b.scale.numel()});
    options.b.scale = view_of(right_scale);
  }
  translate_errors(
      [&] { xpu::dnn::matmul(stream_of(c), view_of(left), view_of(right.t()), view_of(c), options); });
}

// Results of eight bits are multiplied by their own scale and, as in other products, do not overflow.
void compute_narrow(const Rows& a, const Rows& b, const OptionalTensor& bias, const OptionalTensor& scale,
                    const Tensor& c) {
  auto wide = at::empty(c.sizes(), c.options().dtype(at::kFloat));
  compute(a, b, bias, wide);
  if (given(scale)) wide.mul_(*scale);
  double largest = c.scalar_type() == at::kFloat8_e4m3fn ? 448 : 57344;
  c.copy_(wide.clamp_(-largest, largest));
}

void check_bias(const OptionalTensor& bias, const Rows& b) {
  if (!given(bias)) return;
  TORCH_CHECK(bias->numel() == b.count(), "Bias must be size ", b.count(), " but got ", bias->numel());
  auto type = bias->scalar_type();
  TORCH_CHECK(type == at::kBFloat16 || type == at::kHalf || type == at::kFloat,
              "Bias must be BFloat16, Half or Float, but got ", type);
}

void check_sixteens(const Rows& a, const Rows& b) {
  TORCH_CHECK(a.length() % 16 == 0,
              "Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: (", a.count(),
              "x", a.length(), ").");
  TORCH_CHECK(b.length() % 16 == 0 && b.count() % 16 == 0, "mat2 shape (", b.length(), "x", b.count(),
              ") must be divisible by 16");
}

Tensor& run(const Rows& a, const Rows& b, const OptionalTensor& bias, const OptionalTensor& scale_result,
            std::optional<at::ScalarType> out_dtype, Tensor& out) {
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
    compute(a, b, bias, out);
  return out;
}

using Pair = std::array<ScalingType, 2>;
constexpr Pair pairs[] = {{ScalingType::TensorWise, ScalingType::TensorWise},
                          {ScalingType::RowWise, ScalingType::RowWise},
                          {ScalingType::BlockWise128x128, ScalingType::BlockWise1x128},
                          {ScalingType::BlockWise1x128, ScalingType::BlockWise128x128},
                          {ScalingType::BlockWise1x128, ScalingType::BlockWise1x128},
                          {ScalingType::BlockWise1x32, ScalingType::BlockWise1x32}};

// Finds out what the scales' shapes say.
void recognise(Rows& a, Rows& b) {
  auto as_given = b.scale;
  for (auto& pair : pairs) {
    b.scale = pair[1] == ScalingType::BlockWise1x32 || as_given.dim() != 2 ? as_given : as_given.t();
    if (!fits(a, pair[0]) || !fits(b, pair[1])) continue;
    a.type = pair[0];
    b.type = pair[1];
    return;
  }
  auto m = a.count(), n = b.count(), k = a.length();
  TORCH_CHECK(false,
              "Invalid scaling configuration. Expected float8 matrices and float scales: one number "
              "for each, or (",
              m, ", 1) and (1, ", n, "), or (", m, ", ", blocks(k, 128), ") and (", blocks(k, 128), ", ", n,
              ") for blocks of 1x128, or (", blocks(m, 128), ", ", blocks(k, 128), ") and (", blocks(k, 128),
              ", ", blocks(n, 128),
              ") for blocks of 128x128, of which one may be "
              "of 1x128; or float8_e8m0fnu scales for blocks of 1x32. Got ",
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
  Rows left{a, scale_a}, right{b.t(), scale_b};
  recognise(left, right);
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
Tensor as_recipe_says(const Rows& x) {
  if (x.type == ScalingType::RowWise && x.scale.numel() == x.count()) return x.scale.reshape({x.count(), 1});
  if (x.type != ScalingType::BlockWise128x128 || x.scale.dim() != 2) return x.scale;
  auto along = blocks(x.length(), 128);
  return x.scale.size(0) == rounded_up(along, 4) ? x.scale.t().narrow(1, 0, along) : x.scale.t();
}

Rows described(const char* which, const Tensor& matrix, at::TensorList scales, at::IntArrayRef recipe,
               at::IntArrayRef swizzle) {
  TORCH_CHECK_VALUE(scales.size() == 1 && recipe.size() == 1 && swizzle.size() <= 1,
                    "Invalid scaling configuration: expected one scale and one recipe for ", which, ", got ",
                    scales.size(), " and ", recipe.size());
  Rows x{matrix, scales[0], static_cast<ScalingType>(recipe[0])};
  x.swizzled = !swizzle.empty() && static_cast<SwizzleType>(swizzle[0]) == SwizzleType::SWIZZLE_32_4_4;
  x.scale = as_recipe_says(x);
  TORCH_CHECK_VALUE(fits(x, x.type), "Invalid scaling configuration: ", which, " of type ",
                    matrix.scalar_type(), " and size ", matrix.sizes(), " cannot have scales ",
                    scales[0].scalar_type(), scales[0].sizes(), " of scaling type ", recipe[0]);
  return x;
}

Tensor& scaled_mm_v2_out(const Tensor& a, const Tensor& b, at::TensorList scale_a, at::IntArrayRef recipe_a,
                         at::IntArrayRef swizzle_a, at::TensorList scale_b, at::IntArrayRef recipe_b,
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
  auto left = described("mat_a", a, scale_a, recipe_a, swizzle_a);
  auto right = described("mat_b", b.t(), scale_b, recipe_b, swizzle_b);
  bool known = false;
  for (auto& pair : pairs) known |= left.type == pair[0] && right.type == pair[1];
  TORCH_CHECK_VALUE(known, "Invalid scaling configuration: no product of operands of scaling types ",
                    recipe_a[0], " and ", recipe_b[0]);
  check_sixteens(left, right);
  return run(left, right, bias, {}, out_dtype, out);
}

Tensor scaled_mm_v2(const Tensor& a, const Tensor& b, at::TensorList scale_a, at::IntArrayRef recipe_a,
                    at::IntArrayRef swizzle_a, at::TensorList scale_b, at::IntArrayRef recipe_b,
                    at::IntArrayRef swizzle_b, const OptionalTensor& bias,
                    std::optional<at::ScalarType> out_dtype, at::IntArrayRef contraction, bool fast) {
  Tensor out;
  return scaled_mm_v2_out(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype,
                          contraction, fast, out);
}

// A product for each group: of the rows of a, of the columns of b, of what is summed over, or of batches.
// Every row of a and column of b has a scale; ends are where groups end.
Tensor grouped(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b,
               const OptionalTensor& ends, std::optional<at::ScalarType> out_dtype) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, scale_a, scale_b, ends);
  auto type = out_dtype.value_or(at::kBFloat16);
  bool a_stacked = a.dim() == 3, b_stacked = b.dim() == 3;
  TORCH_CHECK_VALUE((a_stacked || a.dim() == 2) && (b_stacked || b.dim() == 2),
                    "mat_a and mat_b have to be 2 or 3 dimensional");
  TORCH_CHECK_VALUE(at::isFloat8Type(a.scalar_type()) && at::isFloat8Type(b.scalar_type()),
                    "Expected inputs of float8, got ", a.scalar_type(), " and ", b.scalar_type());
  TORCH_CHECK_VALUE(type == at::kFloat || type == at::kHalf || type == at::kBFloat16,
                    "out_dtype must be a float of 16 or 32 bits, got ", type);
  TORCH_CHECK_VALUE(a.size(-1) == b.size(-2),
                    "contraction dimension of mat_a and mat_b must match: ", a.sizes(), " and ", b.sizes());
  TORCH_CHECK_VALUE(given(ends) == !(a_stacked && b_stacked),
                    "offs are needed where mat_a or mat_b is 2-dimensional, and only there");
  TORCH_CHECK_VALUE(!given(ends) || (ends->dim() == 1 && ends->scalar_type() == at::kInt),
                    "offs must be a vector of int32");
  auto groups = given(ends) ? ends->size(0) : a.size(0);
  TORCH_CHECK_VALUE((!a_stacked || a.size(0) == groups) && (!b_stacked || b.size(0) == groups),
                    "expected as many groups in mat_a, mat_b and offs, got ", a.sizes(), ", ", b.sizes(),
                    " and ", groups);
  auto m = a.size(-2), n = b.size(-1);
  bool summed = !a_stacked && !b_stacked;
  auto check_scale = [&](const Tensor& scale, std::int64_t each, bool for_group, const char* name) {
    TORCH_CHECK_VALUE(scale.scalar_type() == at::kFloat && scale.numel() == (for_group ? groups : 1) * each,
                      "Expected ", name, " of float32 with ", (for_group ? groups : 1) * each,
                      " elements, got ", scale.scalar_type(), " ", scale.sizes());
  };
  check_scale(scale_a, m, a_stacked || summed, "scale_a");
  check_scale(scale_b, n, b_stacked || summed, "scale_b");
  auto scales_a = scale_a.reshape({-1, 1}), scales_b = scale_b.reshape({-1, 1});
  auto out = a_stacked == b_stacked ? at::empty({groups, m, n}, a.options().dtype(type))
                                    : at::empty({m, n}, a.options().dtype(type));
  Tensor host = given(ends) ? ends->cpu() : Tensor();
  std::int64_t begin = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    std::int64_t end = given(ends) ? host.data_ptr<int>()[g] : 0, length = end - begin;
    TORCH_CHECK_VALUE(length >= 0, "offs must not fall, got ", begin, " and then ", end);
    Rows left{a_stacked ? a[g] : a.narrow(summed ? 1 : 0, begin, length), scales_a, ScalingType::RowWise};
    Rows right{(b_stacked ? b[g] : b.narrow(summed ? 0 : 1, begin, length)).t(), scales_b,
               ScalingType::RowWise};
    left.scale = a_stacked || summed ? scales_a.narrow(0, g * m, m) : scales_a.narrow(0, begin, length);
    right.scale = b_stacked || summed ? scales_b.narrow(0, g * n, n) : scales_b.narrow(0, begin, length);
    auto part = a_stacked == b_stacked ? out[g] : out.narrow(a_stacked ? 1 : 0, begin, length);
    if (part.numel() > 0 && left.length() > 0)
      compute(left, right, {}, part);
    else
      part.zero_();
    begin = end;
  }
  // Rows and columns beyond the last group.
  if (a_stacked != b_stacked) out.narrow(a_stacked, begin, out.size(a_stacked) - begin).zero_();
  return out;
}

Tensor scaled_grouped_mm(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b,
                         const OptionalTensor& ends, const OptionalTensor& bias,
                         const OptionalTensor& scale_result, std::optional<at::ScalarType> out_dtype, bool) {
  TORCH_CHECK_VALUE(!given(bias), "Bias not supported yet");
  TORCH_CHECK_VALUE(!given(scale_result), "Scale result not supported yet");
  return grouped(a, b, scale_a, scale_b, ends, out_dtype);
}

Tensor scaled_grouped_mm_v2(const Tensor& a, const Tensor& b, at::TensorList scale_a,
                            at::IntArrayRef recipe_a, at::IntArrayRef, at::TensorList scale_b,
                            at::IntArrayRef recipe_b, at::IntArrayRef, const OptionalTensor& ends,
                            const OptionalTensor& bias, std::optional<at::ScalarType> out_dtype,
                            at::IntArrayRef, bool) {
  TORCH_CHECK_VALUE(!given(bias), "Bias not supported yet");
  auto by_rows = [](at::TensorList scales, at::IntArrayRef recipe) {
    return scales.size() == 1 && recipe.size() == 1 &&
           static_cast<ScalingType>(recipe[0]) == ScalingType::RowWise;
  };
  TORCH_CHECK_NOT_IMPLEMENTED(
      by_rows(scale_a, recipe_a) && by_rows(scale_b, recipe_b),
      "_scaled_grouped_mm_v2 on xpu takes one scale for each row of mat_a and column of "
      "mat_b (ScalingType.RowWise), got the recipes ",
      recipe_a, " and ", recipe_b);
  return grouped(a, b, scale_a[0], scale_b[0], ends, out_dtype);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_scaled_grouped_mm", scaled_grouped_mm);
  m.impl("_scaled_grouped_mm_v2", scaled_grouped_mm_v2);
  m.impl("_scaled_mm", scaled_mm);
  m.impl("_scaled_mm.out", scaled_mm_out);
  m.impl("_scaled_mm_v2", scaled_mm_v2);
  m.impl("_scaled_mm_v2.out", scaled_mm_v2_out);
}

}  // namespace torch_xpu
