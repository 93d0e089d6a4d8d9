// How a call of an elementwise operation is run: which loop, over which dimensions, with which kernel.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "xpu/kernels/elementwise.h"

namespace xpu::kernels {

enum class Path : std::uint8_t { linear, rows, strided };

/// What a kernel is built for, beside the expression: everything its source depends on.
struct Variant {
  Path path = Path::linear;
  bool wide_index = false;   ///< 64-bit offsets
  std::uint8_t dims = 1;     ///< of the kernel, at least those of the geometry; 0 in a plan that is too wide
  std::uint8_t vector = 1;   ///< neighbouring elements a lane takes at once
  bool past_caches = false;  ///< linear: where results are stored
  std::uint32_t kinds = 0;  ///< rows: two bits an operand, its stride along the row: 0, 1, or 2 for any other
  std::uint8_t outputs = 0, operands = 0;
  DType compute = DType::f32;
  DType dtype[Geometry::max_operands] = {};

  int kind(int operand) const { return kinds >> 2 * operand & 3; }
  bool gathers() const;
  KernelKey key(int device) const;
  /// To which a user of the same kernels adds what it writes itself.
  KeyBits key_bits(int device) const;
};

struct Plan {
  Variant variant;
  Geometry geometry;  ///< without shape on the linear path, which needs the offsets only
  std::int64_t count = 0;

  /// No kernel takes so many operands of so many dimensions.
  bool exceeds_kernel_dims() const;
};

Plan make_plan(const Tuning& tuning, const Expression& expression, std::span<const Tensor> outputs,
               std::span<const Tensor> inputs, DType compute);

/// The same for a geometry made elsewhere; `variant` comes with the operands and their dtypes. Dimensions
/// stay in their order with `keep_order`. Rows shorter than `short_row` leave too many lanes idle.
Plan plan_over(const Geometry& geometry, const Variant& variant, bool keep_order,
               std::int64_t short_row = 32);

/// Appends the geometry the kernel of the plan takes and returns the range it runs over.
NdRange add_geometry(Args& args, const Tuning& tuning, const Plan& plan);

/// The kernel's source.
std::string elementwise_source(const Tuning& tuning, const Expression& expression, const Variant& variant);
/// The kernel's name in that source.
std::string elementwise_kernel_name(const Expression& expression);

}  // namespace xpu::kernels
