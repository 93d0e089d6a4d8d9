// Elementwise operations from C++ expressions: one kernel source, built at run time for the types and the
// memory layout of a call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/kernels/scalar.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The expressions of an operation, in the language of the device library. Names that they may use:
///   a0, a1, ...   the inputs, converted to T (or in their own arithmetic type, see `unconverted_inputs`)
///   p0, p1, ...   the scalars, as T
///   T             the arithmetic type of the compute dtype: float for f16, bf16 and fp8
///   index         with `uses_index`: the element's row-major position in the output, as i64
struct Expression {
  std::string name;                  ///< a C identifier, for traces and errors
  std::vector<std::string> outputs;  ///< one expression each; converted to the output's dtype by xpu::to
  int inputs = 1;
  int scalars = 0;
  std::string body = {};  ///< statements before the expressions, such as "T s = xpu::exp(a0);"
  std::vector<std::string> headers = {"math"};  ///< files of the device library
  std::string helpers = {};                     ///< functions the body calls, at namespace scope
  std::uint32_t unconverted_inputs = 0;         ///< bit i: input i keeps its own arithmetic type instead of T
  bool uses_index = false;
};

/// An operation and its kernels, which are built at the first call for each combination of types and layouts.
/// Make it once and keep it: another object builds its own. Thread-safe.
class XPU_API Elementwise {
 public:
  static constexpr int max_operands = 12, max_scalars = 8;

  /// Throws UsageError for no outputs, or more operands or scalars than the limits.
  explicit Elementwise(Expression expression);
  ~Elementwise();
  Elementwise(const Elementwise&) = delete;
  Elementwise& operator=(const Elementwise&) = delete;

  const Expression& expression() const;

  /// Enqueues `outputs = op(inputs, scalars)`. Outputs have one shape, to which inputs broadcast. Any
  /// strides, except that an output must not overlap itself. An input may be the same view as an output, but
  /// must not otherwise overlap it. `compute` is the dtype of the arithmetic, by default the one that the
  /// inputs promote to. Throws UsageError for operands that do not fit, and CompileError.
  void operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                  std::span<const Scalar> scalars = {}, std::optional<DType> compute = {}) const;

  /// Returns the source of the kernel that such a call would use on `device`. Builds nothing.
  std::string source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     std::optional<DType> compute = {}) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// The dtype that PyTorch promotes two tensors' dtypes to; fp8 with another float gives the other.
XPU_API DType promote(DType a, DType b);

}  // namespace xpu::kernels
