#include "ops/scaled_rows.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/gemm.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/minifloat.h"
#include "ops/tensor.h"
#include "xpu/dnn/reorder.h"

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

// Scales of eight bits as bytes of [rows, blocks]. Swizzled ones lie in tiles of 128 by 4, in which rows that
// are 32 apart are neighbors.
Tensor bytes_of_scales(const ScaledRows& x) {
  auto rows = x.count(), columns = blocks(x.length(), x.block());
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
      bool is_column = scale.dim() == 2 && scale.size(1) == 1 && scale.is_contiguous();
      if (!is_column) scale = scale.contiguous().view({scale.numel(), 1});
      return;
    }
    powers = x.type == ScalingType::BlockWise1x32;
    if (powers) scale = bytes_of_scales(x);
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
    if (powers) seen.dtype = xpu::DType::f8e8m0;
    return seen;
  }
};

// Four-bit floats [rows, length] as the runtime has them: [length, rows].
struct Pairs {
  Tensor bytes, scale;
  xpu::Tensor numbers;
  xpu::dnn::Quantization quantization;

  explicit Pairs(const ScaledRows& x) : bytes(x.matrix.view(at::kByte)), scale(bytes_of_scales(x)) {
    if (bytes.stride(1) != 1) bytes = bytes.contiguous();
    std::int64_t shape[] = {x.length(), x.count()}, strides[] = {1, 2 * bytes.stride(0)};
    numbers = {view_of(bytes).data, xpu::DType::f4, 2, shape, strides};
    quantization.scale = view_of(scale.t());
    quantization.scale->dtype =
        x.type == ScalingType::BlockWise1x32 ? xpu::DType::f8e8m0 : xpu::DType::f8e4m3;
  }
};

// Activations are few: bf16 has their products by the scales exactly.
Tensor expanded(const ScaledRows& x) {
  auto out = at::empty({x.count(), x.length()}, x.matrix.options().dtype(at::kBFloat16));
  Pairs pairs(x);
  xpu::dnn::reorder(stream_of(x.matrix), pairs.numbers, view_of(out.t()), pairs.quantization);
  return out;
}

}  // namespace

std::int64_t ScaledRows::block() const {
  switch (type) {
    case ScalingType::BlockWise1x16:
      return 16;
    case ScalingType::BlockWise1x32:
      return 32;
    case ScalingType::BlockWise1x128:
    case ScalingType::BlockWise128x128:
      return 128;
    default:
      return 0;
  }
}

bool has_scaling(const ScaledRows& x, ScalingType type) {
  bool pairs = x.has_pairs();
  if (!pairs && !at::isFloat8Type(x.matrix.scalar_type())) return false;
  auto has_scales_of = [&](std::int64_t block) {
    auto columns = blocks(x.length(), block);
    auto count = x.swizzled ? rounded_up(x.count(), 128) * rounded_up(columns, 4) : x.count() * columns;
    return x.scale.is_contiguous() && x.scale.numel() == count && (!pairs || x.length() % block == 0);
  };
  if (type == ScalingType::BlockWise1x32)
    return x.scale.scalar_type() == at::kFloat8_e8m0fnu && has_scales_of(32);
  if (type == ScalingType::BlockWise1x16)
    return pairs && x.scale.scalar_type() == at::kFloat8_e4m3fn && has_scales_of(16);
  if (pairs) return false;
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
  Tensor row, factor;
  if (given(bias)) {
    row = bias->reshape({b.count()});
    options.bias = view_of(row);
  }
  for (auto& t : {a.factor, b.factor})
    if (t.defined()) factor = factor.defined() ? at::mul(factor, t) : t;
  if (factor.defined()) multiply_before_bias(options, factor = factor.reshape({1, 1}));
  auto multiply = [&](const xpu::Tensor& left, const xpu::Tensor& right) {
    xpu::dnn::matmul(stream_of(c), left, right, view_of(c), options);
  };
  translate_errors([&] {
    if (a.has_pairs() && b.has_pairs()) {
      auto left = expanded(a);
      Pairs right(b);
      options.b = right.quantization;
      return multiply(view_of(left), right.numbers);
    }
    Factor left(a), right(b);
    options.a.scale = left.view(false);
    options.b.scale = right.view(true);
    multiply(view_of(left.numbers), view_of(right.numbers.t()));
  });
}

}  // namespace torch_xpu
