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

/// One of the values a reduction carries: its C++ type, and the value that changes nothing when combined.
/// T is the arithmetic type of the compute dtype, Position the type of `index`.
struct Accumulator {
  std::string type, identity;
};

/// What a reduction computes, in the language of the device library. Names it may use:
///   a0, a1, ...   an element of each input, as in Expression;  p0, p1, ...  the scalars, as T
///   index         the element's row-major place among those reduced together, as Position
///   s0, s1, ...   the accumulators;  r0, r1, ...  in `combine`, those of the right side
///   count         in `outputs`: how many elements were reduced together, as i64
/// Combining must be associative and commutative up to rounding; the order is the same for the same shapes
/// and device.
struct ReductionExpression {
  std::string name;
  std::vector<Accumulator> accumulators;
  std::vector<std::string> map = {};  ///< accumulators of one element, an expression each; or see `update`
  std::string combine;                ///< statements that bring r0, r1, ... into s0, s1, ...
  std::vector<std::string> outputs;   ///< an expression each, in terms of s0, s1, ...
  std::string update = {};  ///< statements that bring an element into s0, s1, ...: in place of `map`
  int inputs = 1;
  int scalars = 0;
  std::vector<std::string> headers = {"math"};
  std::string helpers = {};
  std::uint32_t unconverted_inputs = 0;
  bool uses_index = false;
};

/// A reduction and the kernels made of it so far; make it once and keep it. Threads may share it.
class XPU_API Reduction {
 public:
  static constexpr int max_operands = 8, max_accumulators = 4;

  /// Throws UsageError when the parts do not fit together.
  explicit Reduction(ReductionExpression expression);
  ~Reduction();
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  const ReductionExpression& expression() const;

  /// Queues the reduction of `inputs`, which broadcast to the shape of the first, over `dims` (negative ones
  /// count from the end). Outputs have that shape with the reduced dimensions left out, or of size 1. No
  /// elements at all give the identities. `compute` is the dtype arithmetic is done in; by default what the
  /// inputs promote to.
  void operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                  std::span<const int> dims, std::span<const Scalar> scalars = {},
                  std::optional<DType> compute = {}) const;

  /// The source of the kernels such a call would use on `device`.
  std::string source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     std::span<const int> dims, std::optional<DType> compute = {}) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// The reductions everybody needs, by name; csrc/kernels/reduce/reductions.cpp is the list. Throws UsageError
/// naming them.
XPU_API const Reduction& reduction(std::string_view name);
XPU_API std::vector<std::string> reduction_names();

}  // namespace xpu::kernels
