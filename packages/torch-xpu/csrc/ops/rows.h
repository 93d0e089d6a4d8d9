// Kernels that look at rows of a tensor several times: softmax, normalisations and their derivatives. A row
// is the elements along one dimension; it stays in the cache from one look to the next.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <shared_mutex>
#include <string>
#include <vector>

#include "xpu/kernels/reduce.h"
#include "xpu/module.h"

namespace torch_xpu {

/// What is computed of a row, in the language of the device library. Names it may use:
///   a0, a1, ...   an element of each input, as T: float, or double where an operand is double
///   p0, p1, ...   the scalars, as T
///   length        the elements of the row, as i64
///   kept          of an element: what `kept` says, in the last look and in the outputs
struct RowText {
  /// One look at the row. Names of accumulators: s0, s1, ... through all looks; r0, r1, ... the right side's.
  struct Look {
    std::vector<xpu::kernels::Accumulator> accumulators;
    std::string update, combine;
    std::string finish = {};  ///< statements after it, of the accumulators; what they declare stays
    std::string when = {};    ///< what rows need it, by what is declared so far; the others keep the identity
  };
  const char* name;
  std::vector<Look> looks;
  std::vector<std::string> outputs = {};      ///< for each element
  std::vector<std::string> row_outputs = {};  ///< for each row
  int inputs = 1, scalars = 0;
  const char* kept = nullptr;  ///< too dear to compute twice: rows that fit local memory remember it
  std::vector<std::string> headers = {"math", "exp"};
};

/// One operator's kernels. Made once for each operator, and never destroyed.
class Rows {
 public:
  explicit Rows(RowText text) : text_(std::move(text)) {}
  Rows(const Rows&) = delete;

  /// Tensors are [outer, length, inner], row outputs [outer, inner]; inputs may be expanded. All have
  /// elements.
  void operator()(at::ArrayRef<at::Tensor> outputs, at::ArrayRef<at::Tensor> row_outputs,
                  at::ArrayRef<at::Tensor> inputs, at::ArrayRef<double> scalars = {}) const;

 private:
  struct Variant;
  std::string source(const Variant& variant) const;
  xpu::Kernel kernel(int device, const Variant& variant) const;

  RowText text_;
  mutable std::shared_mutex mutex_;
  mutable std::map<std::string, xpu::Kernel> kernels_;
};

/// A tensor as [outer, size of dim, inner].
at::Tensor rows_along(const at::Tensor& tensor, std::int64_t dim);

}  // namespace torch_xpu
