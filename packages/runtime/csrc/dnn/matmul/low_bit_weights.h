// Weights of eight or four bits with dense columns, and their scales and zero points.
#pragma once

#include "dnn/matmul/problem.h"

namespace xpu::dnn {

struct LowBitWeights {
  /// Throws Rejection for other weights.
  explicit LowBitWeights(const MatmulProblem& p);

  bool packed;                               ///< two numbers to a byte
  std::int64_t groups = 1;                   ///< of scales and zero points, along k
  std::int64_t group_bytes;                  ///< bytes of a column in one group
  std::int64_t column;                       ///< bytes from a column to the next
  std::int64_t scale[2] = {}, zero[2] = {};  ///< strides along groups and columns

  /// Returns the macros that kernel sources expect.
  std::string defines(const MatmulProblem& p) const;
  /// Adds the operands of scales and zero points, and `any` in place of those that are absent.
  KernelArguments& add_operands(KernelArguments& arguments, const MatmulProblem& p, int any) const;
};

/// Adds a step that converts the weights to floats in scratch, with dense columns. Returns them, and sets
/// `operand` to their index.
Tensor widen_weights(Plan& plan, const MatmulProblem& p, DType dtype, int& operand);

}  // namespace xpu::dnn
