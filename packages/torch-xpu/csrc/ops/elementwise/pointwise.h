// Kernels over a TensorIterator, from expressions in the language of the device library.
#pragma once

#include <ATen/TensorIterator.h>

#include <atomic>
#include <string>
#include <vector>

#include "xpu/kernels/elementwise.h"

namespace torch_xpu {

/// The computation. Expressions name the iterator's inputs a, b, c, ... and the scalars of the call p, q, r,
/// ..., all of type T: the arithmetic type of the compute dtype (float for f16 and bf16).
struct PointwiseExpression {
  std::vector<std::string> real;  ///< an expression for each output
  /// Expressions for compute dtypes that are integers or bool (computed as u8), or complex. If empty, `real`
  /// is used.
  std::vector<std::string> integer = {}, complex = {};
  std::vector<std::string> headers = {};  ///< of the device library, besides the basic functions
  std::string body = {};                  ///< statements before the expressions
  std::string helpers = {};               ///< functions at namespace scope
  unsigned unconverted_inputs = 0;        ///< bit i: input i keeps its own arithmetic type
};

/// One operator's kernels. Thread-safe. Created once for each operator, and never destroyed.
class Pointwise {
 public:
  /// `name` is a C identifier, for traces and errors.
  Pointwise(const char* name, PointwiseExpression expression)
      : name_(name), expression_(std::move(expression)) {}
  Pointwise(const Pointwise&) = delete;

  /// Runs over the iterator: inputs that are single numbers in host memory become scalars of the kernel.
  /// `compute` is the dtype arithmetic is done in; by default the iterator's common dtype, or else the first
  /// input's.
  void operator()(at::TensorIteratorBase& iter, at::ArrayRef<at::Scalar> scalars = {},
                  std::optional<at::ScalarType> compute = {}) const;

 private:
  enum Kind { real_, integer_, complex_ };
  static constexpr int max_inputs = 6;
  using Kernel = xpu::kernels::Elementwise;
  const Kernel& kernel(Kind kind, int inputs, int scalars, unsigned on_host) const;
  // Runs with f32 copies of operands whose minifloat type the runtime does not have.
  void run_in_f32(at::TensorIteratorBase& iter, at::ArrayRef<at::Scalar> scalars) const;

  const char* name_;
  PointwiseExpression expression_;
  // By kind, and by a bit mask of the inputs in host memory.
  mutable std::atomic<const Kernel*> kernels_[3][1 << max_inputs] = {};
};

/// Returns a view of the iterator's operand `k`, outputs first, with the iterator's merged dimensions.
xpu::Tensor operand_of(const at::TensorIteratorBase& iter, int k);

}  // namespace torch_xpu
