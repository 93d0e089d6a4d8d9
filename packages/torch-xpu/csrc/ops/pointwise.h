// Kernels over a TensorIterator, from expressions in the language of the device library.
#pragma once

#include <ATen/TensorIterator.h>

#include <atomic>
#include <string>
#include <vector>

#include "xpu/kernels/elementwise.h"

namespace torch_xpu {

/// What to compute. Expressions speak of the iterator's inputs as a, b, c, ... and of the scalars given to
/// the call as p, q, r, ..., all of type T: the arithmetic type of the compute dtype (float for f16 and
/// bf16).
struct PointwiseText {
  std::vector<std::string> real;  ///< an expression for each output
  /// The same where the compute dtype is an integer or bool (which is computed as u8), or complex. Empty
  /// means the same expressions.
  std::vector<std::string> integer = {}, complex = {};
  std::vector<std::string> headers = {};  ///< of the device library, besides the basic functions
  std::string body = {};                  ///< statements before the expressions
  std::string helpers = {};               ///< functions at namespace scope
  unsigned unconverted_inputs = 0;        ///< bit i: input i keeps its own arithmetic type
};

/// One operator's kernels. Made once for each operator, and never destroyed.
class Pointwise {
 public:
  /// `name` is a C identifier, for traces and errors.
  Pointwise(const char* name, PointwiseText text) : name_(name), text_(std::move(text)) {}
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
  // With f32 in place of the small floats the runtime has no dtypes for.
  void over_floats(at::TensorIteratorBase& iter, at::ArrayRef<at::Scalar> scalars) const;

  const char* name_;
  PointwiseText text_;
  // By kind, and by which inputs are in host memory: a bit each.
  mutable std::atomic<const Kernel*> kernels_[3][1 << max_inputs] = {};
};

/// A view of the iterator's operand `k`, outputs first: dimensions are merged as the iterator has merged
/// them.
xpu::Tensor operand_of(const at::TensorIteratorBase& iter, int k);

}  // namespace torch_xpu
