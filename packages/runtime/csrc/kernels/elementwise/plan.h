// How an elementwise operation is run: which loop, over which dimensions, with which kernel.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "xpu/kernels/elementwise.h"

namespace xpu::kernels {

enum class Path : std::uint8_t { linear, rows, strided };

/// Everything a kernel's source depends on besides the expression.
struct Variant {
  Path path = Path::linear;
  bool wide_index = false;  ///< 64-bit offsets
  std::uint8_t dims = 1;    ///< of the kernel, at least those of the geometry; 0 if exceeds_kernel_dims()
  std::uint8_t vector = 1;  ///< neighboring elements that a lane loads at once
  bool streaming = false;   ///< results are written with streaming stores
  std::uint32_t kinds = 0;  ///< rows: two bits an operand, its stride along the row: 0, 1, or 2 for any other
  std::uint8_t outputs = 0, operands = 0;
  DType compute = DType::f32;
  DType dtype[Geometry::max_operands] = {};

  int kind(int operand) const { return kinds >> 2 * operand & 3; }
  bool gathers() const;
  KernelKey key(int device) const;
  /// The bits of key(); a caller with its own variants of the kernel appends to them.
  KeyBits key_bits(int device) const;
};

struct Plan {
  Variant variant;
  Geometry geometry;  ///< on the linear path only the offsets are set
  std::int64_t count = 0;

  /// True if no kernel takes so many operands of so many dimensions.
  bool exceeds_kernel_dims() const;
};

Plan make_plan(const Tuning& tuning, const Expression& expression, std::span<const Tensor> outputs,
               std::span<const Tensor> inputs, DType compute);

/// Plans for a given geometry; `variant` has the operands and their dtypes. Dimensions keep their order with
/// `keep_order`. Rows shorter than `short_row` leave too many lanes idle.
Plan plan_over(const Geometry& geometry, const Variant& variant, bool keep_order,
               std::int64_t short_row = 32);

/// Appends the geometry the kernel of the plan takes and returns the range it runs over.
NdRange add_geometry(Args& args, const Tuning& tuning, const Plan& plan);

/// The kernel's source.
std::string elementwise_source(const Tuning& tuning, const Expression& expression, const Variant& variant);
/// The kernel's name in that source.
std::string elementwise_kernel_name(const Expression& expression);

}  // namespace xpu::kernels
