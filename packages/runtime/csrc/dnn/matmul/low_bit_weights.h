// Operands of sixteen, eight or four bits that are dense along k, and their scales, zero points and offsets.
// They are seen as weights: an operand a as its transpose.
#pragma once

#include "dnn/matmul/problem.h"

namespace xpu::dnn {

struct LowBitWeights {
  /// `numbers` are [k, n]. Throws Rejection for other operands than described.
  LowBitWeights(const Tensor& numbers, ExtraOperand scales, ExtraOperand zeros, ExtraOperand offsets)
      : LowBitWeights(numbers, scales, zeros, offsets, false) {}
  static LowBitWeights of_a(const MatmulProblem& p);
  static LowBitWeights of_b(const MatmulProblem& p);

  Tensor numbers;                                            ///< [k, n]
  bool packed;                                               ///< two numbers to a byte
  std::int64_t groups = 1;                                   ///< of scales, zero points and offsets, along k
  std::int64_t group_length;                                 ///< numbers of a column in one group
  std::int64_t column;                                       ///< bytes from a column to the next
  std::int64_t scale[2] = {}, zero[2] = {}, offset[2] = {};  ///< strides along groups and columns

  /// Returns whether scales, zero points and offsets, those that there are, are dense along groups.
  bool has_dense_scales() const;
  /// Returns the macros XPU_B, XPU_PACKED, and of scales, zero points and offsets whether there are any
  /// (XPU_HAS_SCALE, XPU_HAS_ZERO, XPU_HAS_OFFSET) and the types (XPU_SCALE, XPU_ZERO, XPU_OFFSET), float if
  /// not.
  std::string defines() const;
  /// Adds the operands of scales, zero points and offsets, and `any` in place of those that are absent.
  KernelArguments& add_operands(KernelArguments& arguments, int any) const;

 private:
  LowBitWeights(const Tensor& numbers, ExtraOperand scales, ExtraOperand zeros, ExtraOperand offsets,
                bool extras_are_transposed);
  std::int64_t set_strides(ExtraOperand extra, bool is_transposed, std::int64_t (&strides)[2]) const;

  ExtraOperand scales_, zeros_, offsets_;
};

/// Returns true for a dtype that has two numbers in a byte.
bool is_packed(DType dtype);

/// Returns true if a primitive of oneDNN takes b's numbers and scales as they are.
bool onednn_reads_weights(const MatmulProblem& p);

/// Adds a step that converts the weights to floats with dense columns, from operand `from` to operand `to`.
void add_widening(Plan& plan, int device, const LowBitWeights& weights, DType dtype, int from, int to);
/// Does so to scratch. Returns the floats, and sets `operand` to their index.
Tensor widen_weights(Plan& plan, int device, const LowBitWeights& weights, DType dtype, int& operand);

}  // namespace xpu::dnn
