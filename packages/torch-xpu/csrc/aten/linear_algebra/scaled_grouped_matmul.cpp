// Products of groups of eight-bit floats, whose rows and columns have scales.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/scaled_rows.h"
#include "ops/torch_versions.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::blas::ScalingType;
using OptionalTensor = std::optional<Tensor>;

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
    ScaledRows left{a_stacked ? a[g] : a.narrow(summed ? 1 : 0, begin, length), scales_a,
                    ScalingType::RowWise};
    ScaledRows right{(b_stacked ? b[g] : b.narrow(summed ? 0 : 1, begin, length)).t(), scales_b,
                     ScalingType::RowWise};
    left.scale = a_stacked || summed ? scales_a.narrow(0, g * m, m) : scales_a.narrow(0, begin, length);
    right.scale = b_stacked || summed ? scales_b.narrow(0, g * n, n) : scales_b.narrow(0, begin, length);
    auto part = a_stacked == b_stacked ? out[g] : out.narrow(a_stacked ? 1 : 0, begin, length);
    if (part.numel() > 0 && left.length() > 0)
      multiply_scaled(left, right, {}, part);
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

Tensor scaled_grouped_mm_v2(const Tensor& a, const Tensor& b, ScaleList scale_a, at::IntArrayRef recipe_a,
                            at::IntArrayRef, ScaleList scale_b, at::IntArrayRef recipe_b, at::IntArrayRef,
                            const OptionalTensor& ends, const OptionalTensor& bias,
                            std::optional<at::ScalarType> out_dtype, at::IntArrayRef, bool) {
  TORCH_CHECK_VALUE(!given(bias), "Bias not supported yet");
  auto by_rows = [](ScaleList scales, at::IntArrayRef recipe) {
    return scales.size() == 1 && recipe.size() == 1 &&
           static_cast<ScalingType>(recipe[0]) == ScalingType::RowWise;
  };
  TORCH_CHECK_NOT_IMPLEMENTED(
      by_rows(scale_a, recipe_a) && by_rows(scale_b, recipe_b),
      "_scaled_grouped_mm_v2 on xpu takes one scale for each row of mat_a and column of "
      "mat_b (ScalingType.RowWise), got the recipes ",
      recipe_a, " and ", recipe_b);
  return grouped(a, b, scale_a.front(), scale_b.front(), ends, out_dtype);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_scaled_grouped_mm", scaled_grouped_mm);
  m.impl("_scaled_grouped_mm_v2", scaled_grouped_mm_v2);
}

}  // namespace torch_xpu
