// Converts post-ops, scales and zero points to oneDNN attributes, with the arguments that each run passes.
#pragma once

#include <vector>

#include "dnn/epilogue/epilogue.h"
#include "dnn/primitive.h"

namespace xpu::dnn {

using Arguments = std::vector<PrimitiveStep::Argument>;

/// A sum or product of a result with an operand.
struct LeadingOp {
  dnnl::algorithm kind;
  ExtraOperand operand;
};
/// Adds post-ops on a result, after those of `first` that have a tensor. Throws Rejection for an operand that
/// oneDNN would misread: one that is broadcast in some dimensions and not in row-major order.
void add_post_ops(dnnl::primitive_attr& attributes, Arguments& arguments, const std::vector<PostOp>& post_ops,
                  const ExtraOperands& extras, const Tensor& result,
                  const std::vector<LeadingOp>& first = {});
/// Returns true if a post-op reads the previous content of the result.
bool reads_result(const std::vector<PostOp>& post_ops);
/// Throws Rejection if oneDNN's matrix products would read wrong elements of a post-op's operand, some beyond
/// its end: always if the result is not in row-major order, and with padding between its rows for all
/// operands but those that differ along columns only.
void reject_misread_operand(const Tensor& result, ExtraOperand operand);
/// Adds the scale and zero point of the argument `id`, the tensor `of`.
void add_quantization(dnnl::primitive_attr& attributes, Arguments& arguments, int id, const Tensor& of,
                      ExtraOperand scale, ExtraOperand zero_point);

}  // namespace xpu::dnn
