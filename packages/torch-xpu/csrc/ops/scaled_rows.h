// Operands of products of eight-bit and four-bit floats: numbers with a scale for all, for each row, or for
// each block.
#pragma once

#include <ATen/BlasBackend.h>
#include <ATen/ceil_div.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace torch_xpu {

/// One operand as rows to be summed along: a, or b transposed. Its scale is transposed with it. Four-bit
/// floats lie two in an element of the matrix.
struct ScaledRows {
  at::Tensor matrix, scale;
  at::blas::ScalingType type = at::blas::ScalingType::TensorWise;
  bool swizzled = true;
  at::Tensor factor = {};  ///< of all numbers, beside scales of blocks; optional

  bool has_pairs() const { return matrix.scalar_type() == at::kFloat4_e2m1fn_x2; }
  std::int64_t count() const { return matrix.size(0); }
  std::int64_t length() const { return matrix.size(1) * (has_pairs() ? 2 : 1); }
  /// Elements along a row that share a scale; 0 if all do.
  std::int64_t block() const;
};

using ScalingPair = std::array<at::blas::ScalingType, 2>;
/// The scalings of a and b that there are products for.
inline constexpr ScalingPair scaling_pairs[] = {
    {at::blas::ScalingType::TensorWise, at::blas::ScalingType::TensorWise},
    {at::blas::ScalingType::RowWise, at::blas::ScalingType::RowWise},
    {at::blas::ScalingType::BlockWise128x128, at::blas::ScalingType::BlockWise1x128},
    {at::blas::ScalingType::BlockWise1x128, at::blas::ScalingType::BlockWise128x128},
    {at::blas::ScalingType::BlockWise1x128, at::blas::ScalingType::BlockWise1x128},
    {at::blas::ScalingType::BlockWise1x32, at::blas::ScalingType::BlockWise1x32},
    {at::blas::ScalingType::BlockWise1x16, at::blas::ScalingType::BlockWise1x16}};

/// Returns true if the types and shapes of the operand are those of the scaling.
bool has_scaling(const ScaledRows& x, at::blas::ScalingType type);

/// c = a @ b transposed, plus the bias. c is of 16 or 32 bits.
void multiply_scaled(const ScaledRows& a, const ScaledRows& b, const std::optional<at::Tensor>& bias,
                     const at::Tensor& c);

}  // namespace torch_xpu
