// Products of eight-bit floats, whose operands have scales: one for all, one a row, or one a block.
#include <ATen/BlasBackend.h>
#include <ATen/ceil_div.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>

#include "device/errors.h"
#include "ops/elementwise.h"
#include "ops/exponents.h"
#include "ops/product.h"
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
  auto powers = from_exponents(x.scale);
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
  translated([&] { xpu::dnn::matmul(stream_of(c), view_of(left), view_of(right.t()), view_of(c), options); });
}

// Results of eight bits are multiplied by their own scale and, as in other products, do not overflow.
void compute_narrow(const Rows& a, const Rows& b, const OptionalTensor& bias, const OptionalTensor& scale,
                    const Tensor& c) {
  auto wide = at::empty(c.sizes(), c.options().dtype(at::kFloat));
  compute(a, b, bias, wide);
  if (given(scale)) wide.mul_(*scale);
  double most = c.scalar_type() == at::kFloat8_e4m3fn ? 448 : 57344;
  c.copy_(wide.clamp_(-most, most));
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

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_scaled_mm", scaled_mm);
  m.impl("_scaled_mm.out", scaled_mm_out);
  m.impl("_scaled_mm_v2", scaled_mm_v2);
  m.impl("_scaled_mm_v2.out", scaled_mm_v2_out);
}

}  // namespace torch_xpu
