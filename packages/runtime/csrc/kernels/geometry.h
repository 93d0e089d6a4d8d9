// The common shape of several operands, reduced to the fewest dimensions that describe all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "xpu/tensor.h"

namespace xpu::kernels {

struct Geometry {
  static constexpr int max_operands = 12, max_dims = Tensor::max_dims;

  int operands = 0, dims = 0;  ///< dims is at least 1
  std::int64_t count = 1;      ///< elements in all
  // Fastest dimension first; strides count elements.
  std::array<std::int64_t, max_dims> size;
  std::array<std::array<std::int64_t, max_dims>, max_operands> stride;
  std::array<std::int64_t, max_operands>
      offset{};  ///< of the first element, not 0 where a dimension was turned round

  /// Every operand is walked with stride 1 from end to end.
  bool linear() const;
  /// No offset of an element from its operand's first one needs more than 31 bits.
  bool fits_32_bits() const;
};

/// Throws UsageError for shapes that do not agree and for outputs that overlap themselves; `name` is for the
/// message.
void check_shapes(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name);

/// The operands' broadcast shape is that of the first `outputs` of them. Dimensions change places and
/// direction to suit the outputs unless `keep_order`. Checks the shapes first.
Geometry coalesce(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name,
                  bool keep_order);

}  // namespace xpu::kernels
