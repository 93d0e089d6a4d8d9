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

/// What an operation computes, in the language of the device library. Names an expression may use:
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

/// An operation and the kernels made of it so far. Make it once and keep it: the identity is the key of its
/// kernels. Threads may share it.
class XPU_API Elementwise {
 public:
  static constexpr int max_operands = 12, max_scalars = 8;

  /// Throws UsageError when there are no outputs, or more operands or scalars than the limits.
  explicit Elementwise(Expression expression);
  ~Elementwise();
  Elementwise(const Elementwise&) = delete;
  Elementwise& operator=(const Elementwise&) = delete;

  const Expression& expression() const;

  /// Queues `outputs = op(inputs, scalars)`. Outputs have one shape, to which inputs broadcast. Any strides,
  /// except that an output must not overlap itself. An input may be the same view as an output, but must not
  /// otherwise overlap it. `compute` is the dtype arithmetic is done in; by default what the inputs promote
  /// to.
  void operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                  std::span<const Scalar> scalars = {}, std::optional<DType> compute = {}) const;

  /// The source of the kernel such a call would use on `device`, to look at or to build ahead.
  std::string source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     std::optional<DType> compute = {}) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// What PyTorch promotes two tensors' dtypes to; fp8 with another float gives the other.
XPU_API DType promote(DType a, DType b);

}  // namespace xpu::kernels
