// A matmul in one form for all calls: operands of equal rank, and batches folded into rows where possible.
#pragma once

#include <optional>

#include "dnn/epilogue/epilogue.h"
#include "dnn/problem.h"
#include "xpu/dnn/matmul.h"

namespace xpu::dnn {

struct MatmulProblem {
  /// Throws UsageError for shapes and types that do not fit together.
  MatmulProblem(int device, const Tensor& a, const Tensor& b, const Tensor& c, const MatmulOptions& options,
                bool quantizes_rows = false);

  const MatmulOptions& options;
  const bool quantizes_rows;  ///< of a, to the type of b
  Tensor a, b, c;             ///< of one rank; a broadcast batch dimension has size 1
  Problem problem;
  ExtraOperands post_ops;
  bool is_b_aligned;  ///< to 4 bytes
  ExtraOperand bias, scale_a, zero_a, scale_b, zero_b, offset_b, scale_c, zero_c;

  DType type_of_a() const { return quantizes_rows ? b.dtype : a.dtype; }
  std::int64_t m() const { return c.shape[c.ndim - 2]; }
  std::int64_t n() const { return c.shape[c.ndim - 1]; }
  std::int64_t k() const { return a.shape[a.ndim - 1]; }
  bool is_plain() const {
    return !options.bias && options.post_ops.empty() && !options.a && !options.b && !options.c;
  }
};

/// Returns the epilogue of the call: with `operand_scales` the scales of a and b, then bias, post-ops and the
/// result's quantization.
Epilogue matmul_epilogue(const MatmulProblem& p, const char* type, bool operand_scales);

/// Multiplies a few rows by weights of eight or four bits, without a copy of the weights in another type.
std::string matmul_skinny(const MatmulProblem& p, Plan& plan);
/// All of it in one primitive.
std::string matmul_onednn(const MatmulProblem& p, Plan& plan);
/// The sums by a primitive, the epilogue by a kernel.
std::string matmul_onednn_and_kernel(const MatmulProblem& p, Plan& plan);
/// All of it in one kernel.
std::string matmul_sycl(const MatmulProblem& p, Plan& plan);

}  // namespace xpu::dnn
