#include "ops/scaled_rows.h"

#include <ATen/ops/empty.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/elementwise.h"
#include "ops/gemm.h"
#include "ops/minifloat.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::blas::ScalingType;

std::int64_t blocks(std::int64_t size, std::int64_t block) {
  return at::ceil_div(size, block);
}
std::int64_t rounded_up(std::int64_t size, std::int64_t to) {
  return blocks(size, to) * to;
}

bool has_shape(const Tensor& scale, std::int64_t rows, std::int64_t columns) {
  return scale.dim() == 2 && scale.size(0) == rows && scale.size(1) == columns;
}

// Powers of two as [rows, blocks]. Swizzled ones lie in tiles of 128 by 4, in which rows that are 32 apart
// are neighbours.
Tensor powers_of_two(const ScaledRows& x) {
  auto rows = x.count(), columns = blocks(x.length(), 32);
  auto bytes = x.scale.view(at::kByte);
  if (!x.swizzled) return bytes.view({rows, columns});
  return bytes.view({blocks(rows, 128), blocks(columns, 4), 32, 4, 4})
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

// An operand whose last block is not whole, multiplied by its scale.
Tensor scaled(const ScaledRows& x, const Tensor& scale) {
  static const auto& kernel =
      *new xpu::kernels::Elementwise({.name = "scale_blocks", .outputs = {"a0 * a1"}, .inputs = 2});
  auto out = at::empty(x.matrix.sizes(), x.matrix.options().dtype(at::kFloat));
  elementwise(kernel, {out}, {x.matrix, spread(scale.contiguous(), x.count(), x.length(), 1, x.block())}, {},
              at::kFloat);
  return out;
}

// What the runtime multiplies: numbers, and a scale of [1 or rows, 1 or blocks].
struct Factor {
  Tensor numbers, scale;
  bool powers = false;  ///< the scale is bytes of e8m0

  explicit Factor(const ScaledRows& x) : numbers(x.matrix), scale(x.scale) {
    if (x.block() == 0) {
      scale = scale.contiguous().view({scale.numel(), 1});
      return;
    }
    powers = x.type == ScalingType::BlockWise1x32;
    if (powers) scale = powers_of_two(x);
    if (x.type == ScalingType::BlockWise128x128)
      scale = spread(scale.contiguous(), x.count(), scale.size(1), 128, 1);
    if (x.length() % x.block() == 0) {
      if (numbers.stride(1) != 1) numbers = numbers.contiguous();
      return;
    }
    auto floats = powers ? minifloat_to_f32(scale.contiguous().view(at::kFloat8_e8m0fnu)) : scale;
    numbers = scaled(x, floats);
    scale = Tensor();
  }

  std::optional<xpu::Tensor> view(bool transposed) const {
    if (!scale.defined()) return {};
    auto seen = view_of(transposed ? scale.t() : scale);
    if (powers) seen.dtype = xpu::DType::e8m0;
    return seen;
  }
};

}  // namespace

std::int64_t ScaledRows::block() const {
  if (type == ScalingType::TensorWise || type == ScalingType::RowWise) return 0;
  return type == ScalingType::BlockWise1x32 ? 32 : 128;
}

bool has_scaling(const ScaledRows& x, ScalingType type) {
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

void multiply_scaled(const ScaledRows& a, const ScaledRows& b, const std::optional<Tensor>& bias,
                     const Tensor& c) {
  auto options = matmul_options();
  Tensor row;
  if (given(bias)) {
    row = bias->reshape({b.count()});
    options.bias = view_of(row);
  }
  Factor left(a), right(b);
  options.a.scale = left.view(false);
  options.b.scale = right.view(true);
  translate_errors([&] {
    xpu::dnn::matmul(stream_of(c), view_of(left.numbers), view_of(right.numbers.t()), view_of(c), options);
  });
}

}  // namespace torch_xpu
