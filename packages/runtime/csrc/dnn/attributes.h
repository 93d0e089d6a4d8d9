// oneDNN attributes from ours: post-ops, scales and zero points, with the arguments they need at each run.
#pragma once

#include <vector>

#include "dnn/epilogue/epilogue.h"
#include "dnn/primitive.h"

namespace xpu::dnn {

using Arguments = std::vector<PrimitiveStep::Argument>;

/// Post-ops on a result of `ndim` dimensions, after adding `first` when there is one.
void add_post_ops(dnnl::primitive_attr& attributes, Arguments& arguments, const std::vector<PostOp>& post_ops,
                  const ExtraOperands& extras, int ndim, ExtraOperand first = {});
/// True when a post-op adds what the result's memory held before.
bool reads_result(const std::vector<PostOp>& post_ops);
/// oneDNN's matrix products read the wrong elements of a post-op's operand, also beyond its end, when rows of
/// the result are not in row-major order; and with padding between them, of all operands but those of the
/// columns.
void reject_misread_operand(const Tensor& result, ExtraOperand operand);
/// Scale and zero point of the argument `id`, which is `of`.
void add_quantization(dnnl::primitive_attr& attributes, Arguments& arguments, int id, const Tensor& of,
                      ExtraOperand scale, ExtraOperand zero_point);

}  // namespace xpu::dnn
