// How a call of a reduction is run: where the lanes lie, how results are shared out and split.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "xpu/kernels/reduce.h"

namespace xpu::kernels {

/// What a kernel is built for, beside the expression.
struct ReduceVariant {
  bool outer = false;                  ///< lanes lie along results, not along the elements of one
  bool split = false;                  ///< chunks of a result are brought together by a second kernel
  bool wide_index = false;             ///< 64-bit offsets along the lanes and positions
  std::uint8_t kept = 1, reduced = 2;  ///< dimensions of the kernel
  std::uint8_t ways = 1;               ///< outer: vectors of results a lane works on at once
  std::uint32_t kinds = 0;  ///< two bits an operand, its stride along the lanes: 0, 1, or 2 for any other
  std::uint8_t outputs = 0, operands = 0;
  DType compute = DType::f32;
  DType dtype[Reduction::max_operands] = {};

  KernelKey key(int device) const;
};

/// The fields of the kernel's Shape that are not sizes and strides.
struct ReduceCut {
  std::int64_t results = 0, count = 0, columns = 0, rows = 0, column_chunk = 0, row_chunk = 0,
               column_chunks = 1, chunks = 1, tiles = 0, result_tiles = 0, per_tile = 1;
};

struct ReducePlan {
  ReduceVariant variant;
  Geometry kept;     ///< operands: inputs, then outputs
  Geometry reduced;  ///< operands: inputs, then the position where the reduction uses it
  ReduceCut cut;

  /// No kernel takes so many dimensions.
  bool exceeds_kernel_dims() const { return variant.kept == 0; }
};

/// The dimensions to reduce.
using ReducedDims = std::array<bool, Tensor::max_dims>;
ReducedDims reduced_dims(const Tensor& shape, std::span<const int> dims, const std::string& name);

ReducePlan make_reduce_plan(const Tuning& tuning, const ReductionExpression& expression,
                            std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                            std::span<const int> dims, DType compute);

/// Appends the kernel's Shape.
void add_shape(Args& args, const ReducePlan& plan);

/// Both kernels' source, and their names in it; the second is there when the variant is split.
std::string reduce_source(const Tuning& tuning, const ReductionExpression& expression,
                          const ReduceVariant& variant);
std::string reduce_kernel_name(const ReductionExpression& expression);
std::string reduce_finish_name(const ReductionExpression& expression);

}  // namespace xpu::kernels
