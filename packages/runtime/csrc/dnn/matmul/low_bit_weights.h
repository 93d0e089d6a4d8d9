// Weights of eight or four bits whose columns lie dense in memory, and what their numbers stand for.
#pragma once

#include "dnn/matmul/problem.h"

namespace xpu::dnn {

struct LowBitWeights {
  /// Refuses other weights.
  explicit LowBitWeights(const MatmulProblem& p);

  bool packed;                               ///< two numbers to a byte
  std::int64_t groups = 1;                   ///< of scales and zero points, along what is summed over
  std::int64_t each;                         ///< bytes of a column that share them
  std::int64_t column;                       ///< bytes from a column to the next
  std::int64_t scale[2] = {}, zero[2] = {};  ///< strides along groups and columns

  /// What kernel sources say of them.
  std::string defines(const MatmulProblem& p) const;
  /// The operands of scales and zero points; `any` stands for those that there are not.
  KernelArguments& add_operands(KernelArguments& arguments, const MatmulProblem& p, int any) const;
};

/// The weights as floats in temporary memory, dense columns as before; `operand` is theirs.
Tensor widened(Plan& plan, const MatmulProblem& p, DType dtype, int& operand);

}  // namespace xpu::dnn
