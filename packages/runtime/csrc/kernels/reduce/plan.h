// How a reduction is run: along which dimension the lanes lie, and how results are tiled and split.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "xpu/kernels/reduce.h"

namespace xpu::kernels {

/// Everything a kernel's source depends on besides the expression.
struct ReduceVariant {
  bool outer = false;       ///< lanes lie along results, not along the elements of one result
  bool split = false;       ///< a second kernel combines the chunks of a result
  bool wide_index = false;  ///< 64-bit offsets along the lanes and positions
  std::uint8_t result_dims = 1, reduced_dims = 2;  ///< dimensions of the kernel
  std::uint8_t unroll = 1;                         ///< outer: vectors of results that a lane computes at once
  std::uint32_t kinds = 0;  ///< two bits an operand, its stride along the lanes: 0, 1, or 2 for any other
  std::uint8_t outputs = 0, operands = 0;
  DType compute = DType::f32;
  DType dtype[Reduction::max_operands] = {};

  KernelKey key(int device) const;
};

/// The fields of the kernel's Shape that are not sizes and strides.
struct ReduceTiling {
  std::int64_t results = 0, count = 0, columns = 0, rows = 0, column_chunk = 0, row_chunk = 0,
               column_chunks = 1, chunks = 1, tiles = 0, result_tiles = 0, per_tile = 1;
};

struct ReducePlan {
  ReduceVariant variant;
  Geometry results;  ///< operands: inputs, then outputs
  Geometry reduced;  ///< operands: inputs, then the position where the reduction uses it
  ReduceTiling tiling;

  /// True if no kernel takes so many dimensions.
  bool exceeds_kernel_dims() const { return variant.result_dims == 0; }
};

/// True for each dimension to reduce.
using ReducedDims = std::array<bool, Tensor::max_dims>;
ReducedDims reduced_dims(const Tensor& shape, std::span<const int> dims, const std::string& name);

ReducePlan make_reduce_plan(const Tuning& tuning, const ReductionExpression& expression,
                            std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                            std::span<const int> dims, DType compute);

/// Appends the kernel's Shape.
void add_shape(Args& args, const ReducePlan& plan);

/// The source of both kernels, and their names in it. The second kernel is used if the variant is split.
std::string reduce_source(const Tuning& tuning, const ReductionExpression& expression,
                          const ReduceVariant& variant);
std::string reduce_kernel_name(const ReductionExpression& expression);
std::string reduce_finish_name(const ReductionExpression& expression);

}  // namespace xpu::kernels
