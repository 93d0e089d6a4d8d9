// The common shape of several operands, reduced to the fewest dimensions that describe all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "xpu/tensor.h"

namespace xpu::kernels {

struct Geometry {
  static constexpr int max_operands = 12, max_dims = Tensor::max_dims;
  /// Kernels of any number of operands are built for at most so many dimensions. Calls that cannot be
  /// described with fewer work on row-major copies of their operands.
  static constexpr int max_kernel_dims = 12;
  /// With at most three operands the sizes and strides of all dimensions a memory can have fit a call.
  static constexpr int max_kernel_dims_3_operands = 40;

  int operands = 0, dims = 0;  ///< dims is at least 1
  std::int64_t count = 1;      ///< elements in all
  // Fastest dimension first; strides count elements.
  std::array<std::int64_t, max_dims> size;
  std::array<std::array<std::int64_t, max_dims>, max_operands> stride;
  std::array<std::int64_t, max_operands>
      offset{};  ///< of the first element, not 0 where a dimension was turned round

  Geometry() = default;
  /// Only the dimensions that are there are copied.
  Geometry(const Geometry& other) { *this = other; }
  Geometry& operator=(const Geometry& other);

  /// Every operand is walked with stride 1 from end to end.
  bool linear() const;
  /// The dimension of the most elements becomes the first one; the others keep their order.
  void longest_first();
  /// No offset of an element from its operand's first one needs more than 31 bits.
  bool fits_32_bits() const;
};

/// Drops dimensions of one element, puts the fastest first (by the operands in their order; they are walked
/// forwards where the first operand is) unless `keep_order`, and joins those that all operands walk as one.
/// `size`, `stride` and `dims`, which may be 0, are the input; `count` and the result's `dims` of at least 1
/// come out.
void simplify(Geometry& geometry, bool keep_order);

/// Throws UsageError for shapes that do not agree and for outputs that overlap themselves; `name` is for the
/// message.
void check_shapes(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name);

/// The part of it that is about inputs; throws UsageError for one that does not broadcast to `shape`.
void check_inputs(std::span<const Tensor> inputs, const Tensor& shape, const char* name);

/// The operands' broadcast shape is that of the first `outputs` of them. Dimensions change places and
/// direction to suit the outputs unless `keep_order`. Checks the shapes first.
Geometry coalesce(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name,
                  bool keep_order);

}  // namespace xpu::kernels
