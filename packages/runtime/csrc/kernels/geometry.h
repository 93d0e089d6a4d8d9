// The common shape of several operands, merged into as few dimensions as describe all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "xpu/tensor.h"

namespace xpu::kernels {

struct Geometry {
  static constexpr int max_operands = 12, max_dims = Tensor::max_dims;
  /// Kernels are built for at most so many dimensions. Calls that need more use row-major copies of their
  /// operands.
  static constexpr int max_kernel_dims = 12;
  /// The limit for kernels of at most three operands: any tensor fits, since a larger one exceeds all memory.
  static constexpr int max_kernel_dims_3_operands = 40;

  int operands = 0, dims = 0;  ///< dims is at least 1
  std::int64_t count = 1;      ///< elements in all
  // Fastest dimension first; strides count elements.
  std::array<std::int64_t, max_dims> size;
  std::array<std::array<std::int64_t, max_dims>, max_operands> stride;
  std::array<std::int64_t, max_operands>
      offset{};  ///< of the first element; not 0 if a dimension was reversed

  Geometry() = default;
  /// Copies only the dimensions in use.
  Geometry(const Geometry& other) { *this = other; }
  Geometry& operator=(const Geometry& other);

  /// True if every operand has stride 1 in the only dimension.
  bool linear() const;
  /// Makes the dimension with the most elements the first one; the others keep their order.
  void put_longest_first();
  /// True if all offsets from an operand's first element fit 31 bits.
  bool fits_32_bits() const;
};

/// Drops dimensions of one element and merges nested ones. Unless `keep_order`, first reverses dimensions in
/// which the first operand's stride is negative and sorts them, fastest first, by the operands in their
/// order. Reads `size`, `stride` and `dims`, which may be 0; sets these, so that `dims` is at least 1, and
/// `count`.
void simplify(Geometry& geometry, bool keep_order);

/// Throws UsageError if shapes do not agree or an output overlaps itself; `name` is for the message.
void check_shapes(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name);

/// The part of check_shapes() for inputs: throws UsageError if one does not broadcast to `shape`.
void check_inputs(std::span<const Tensor> inputs, const Tensor& shape, const char* name);

/// Returns the simplified geometry of outputs and inputs, whose broadcast shape is that of the outputs.
/// Dimensions are permuted and reversed to suit the outputs unless `keep_order`. Checks the shapes first.
Geometry coalesce(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name,
                  bool keep_order);

}  // namespace xpu::kernels
