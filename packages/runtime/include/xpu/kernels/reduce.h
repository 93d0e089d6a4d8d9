// Reductions from C++ expressions, over any dimensions, with one accumulator or several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/kernels/scalar.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// One of a reduction's accumulators: its C++ type, and its identity, which changes nothing when combined.
/// T is the arithmetic type of the compute dtype, Position the type of `index`.
struct Accumulator {
  std::string type, identity;
};

/// The expressions of a reduction, in the language of the device library. Names that they may use:
///   a0, a1, ...   an element of each input, as in Expression;  p0, p1, ...  the scalars, as T
///   index         the element's row-major position among those reduced together, as Position
///   s0, s1, ...   the accumulators;  r0, r1, ...  in `combine`, those of the right operand
///   count         in `outputs`: how many elements were reduced together, as i64
/// Combining must be associative and commutative up to rounding; the order is the same for the same shapes
/// and device.
struct ReductionExpression {
  std::string name;
  std::vector<Accumulator> accumulators;
  std::vector<std::string> map = {};  ///< an expression for each accumulator of one element; or see `update`
  std::string combine;                ///< statements that combine r0, r1, ... into s0, s1, ...
  std::vector<std::string> outputs;   ///< an expression each, in terms of s0, s1, ...
  std::string update = {};  ///< statements that combine an element into s0, s1, ..., instead of `map`
  int inputs = 1;
  int scalars = 0;
  std::vector<std::string> headers = {"math"};
  std::string helpers = {};
  std::uint32_t unconverted_inputs = 0;
  bool uses_index = false;
};

/// A reduction and the kernels built for it so far. Make it once and keep it. Thread-safe.
class XPU_API Reduction {
 public:
  static constexpr int max_operands = 8, max_accumulators = 4;

  /// Throws UsageError if the expressions do not fit together.
  explicit Reduction(ReductionExpression expression);
  ~Reduction();
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  const ReductionExpression& expression() const;

  /// Enqueues the reduction of `inputs`, which broadcast to the shape of the first, over `dims` (negative
  /// ones count from the end). Outputs have that shape with the reduced dimensions left out, or of size 1. A
  /// reduction of no elements gives the identities. `compute` is the dtype of the arithmetic, by default the
  /// one that the inputs promote to. Throws UsageError for operands that do not fit, and CompileError.
  void operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                  std::span<const int> dims, std::span<const Scalar> scalars = {},
                  std::optional<DType> compute = {}) const;

  /// Returns the source of the kernels that such a call would use on `device`. Builds nothing.
  std::string source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     std::span<const int> dims, std::optional<DType> compute = {}) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// A predefined reduction; csrc/kernels/reduce/reductions.cpp lists them. Throws UsageError, which lists the
/// names.
XPU_API const Reduction& reduction(std::string_view name);
XPU_API std::vector<std::string> reduction_names();

}  // namespace xpu::kernels
