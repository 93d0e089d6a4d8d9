#include "dnn/operand_checks.h"

#include "dnn/problem.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

void require_divides(const char* op, const char* of_what, const char* what,
                     const std::optional<Tensor>& operand, const Tensor& of) {
  if (!operand || operand->ndim == 0) return;
  bool fits = operand->ndim == of.ndim;
  for (int d = 0; fits && d < of.ndim; ++d)
    fits = operand->shape[d] > 0 && of.shape[d] % operand->shape[d] == 0;
  expect<UsageError>(fits, op, ": ", of_what, what, " is ", *operand, ", which does not divide the operand ",
                     of);
}

}  // namespace

void require_broadcasts(const char* op, const char* what, const std::optional<Tensor>& operand,
                        const Tensor& result) {
  if (!operand) return;
  bool fits = operand->ndim <= result.ndim;
  for (int back = 1; fits && back <= operand->ndim; ++back) {
    auto size = operand->shape[operand->ndim - back];
    fits = size == 1 || size == result.shape[result.ndim - back];
  }
  expect<UsageError>(fits, op, ": ", what, " is ", *operand, ", which does not broadcast to the result ",
                     result);
}

void require_fits(const char* op, const char* what, const Quantization& quantization, const Tensor& of) {
  require_divides(op, "the scale of ", what, quantization.scale, of);
  require_divides(op, "the zero point of ", what, quantization.zero_point, of);
}

void require_fit(const char* op, const std::vector<PostOp>& post_ops, const Tensor& result) {
  for (auto& post_op : post_ops) {
    bool binary = post_op.kind >= PostOp::Kind::add && post_op.kind != PostOp::Kind::sum;
    expect<UsageError>(binary == post_op.operand.has_value(), op, ": a post-op ",
                       binary ? "has no operand" : "has an operand that it does not take");
    require_broadcasts(op, "a post-op's operand", post_op.operand, result);
  }
}

}  // namespace xpu::dnn
