// Kernels that read rows of a tensor in several passes: softmax, normalizations and their derivatives. A row
// is the elements along one dimension; the device's cache holds it from one pass to the next.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <shared_mutex>
#include <string>
#include <vector>

#include "xpu/kernels/reduce.h"
#include "xpu/launch.h"

namespace torch_xpu {

/// The computation of a row, in the language of the device library. It may use these names:
///   a0, a1, ...   an element of each input, as T: float, or double where an operand is double
///   p0, p1, ...   the scalars, as T
///   length        the elements of the row, as i64
///   cached        the value of `cached` for an element, in the last pass and in the outputs
struct RowExpression {
  /// One pass over the row. The accumulators are s0, s1, ..., numbered through all passes; in `combine` those
  /// of the right-hand side are r0, r1, ...
  struct Pass {
    std::vector<xpu::kernels::Accumulator> accumulators;
    std::string update, combine;
    std::string finish = {};  ///< statements after the pass, whose declarations later passes and outputs see
    std::string condition = {};  ///< rows for which it is false skip the pass and keep the identity
  };
  const char* name;
  std::vector<Pass> passes;
  std::vector<std::string> outputs = {};      ///< for each element
  std::vector<std::string> row_outputs = {};  ///< for each row
  int inputs = 1, scalars = 0;
  /// Sub-expression cached in local memory, if the row fits, instead of recomputed in each pass.
  const char* cached = nullptr;
  std::vector<std::string> headers = {"math", "exp"};
};

/// One operator's kernels. Thread-safe. Created once for each operator, and never destroyed.
class RowKernel {
 public:
  explicit RowKernel(RowExpression expression) : expression_(std::move(expression)) {}
  RowKernel(const RowKernel&) = delete;

  /// Enqueues a kernel. Tensors are [outer, length, inner], row outputs [outer, inner]; inputs may be
  /// expanded. None may be empty.
  void operator()(at::ArrayRef<at::Tensor> outputs, at::ArrayRef<at::Tensor> row_outputs,
                  at::ArrayRef<at::Tensor> inputs, at::ArrayRef<double> scalars = {}) const;

 private:
  struct Variant;
  std::string source(const Variant& variant) const;
  xpu::Kernel kernel(int device, const Variant& variant) const;

  RowExpression expression_;
  mutable std::shared_mutex mutex_;
  mutable std::map<std::string, xpu::Kernel> kernels_;
};

/// Returns `tensor` as a view of shape [outer, size of dim, inner].
at::Tensor view_as_rows(const at::Tensor& tensor, std::int64_t dim);

}  // namespace torch_xpu
