#include "distributed/reduction.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/ScalarType.h>

namespace torch_xpu::distributed {
namespace {

using c10d::ReduceOp;

// gloo reduces neither complex numbers nor these integers.
at::ScalarType type_of_transport(at::ScalarType type) {
  switch (type) {
    case at::kShort:
    case at::kUInt16:
      return at::kInt;  // of which the low half is right
    case at::kUInt32:
      return at::kLong;
    case at::kComplexFloat:
      return at::kFloat;
    case at::kComplexDouble:
      return at::kDouble;
    case at::kComplexHalf:
      return at::kHalf;
    default:
      return type;
  }
}

bool is_linear(ReduceOp op) {
  return op.op_ == ReduceOp::SUM || op.op_ == ReduceOp::AVG || op.op_ == ReduceOp::PREMUL_SUM;
}

bool is_bitwise(ReduceOp op) {
  return op.op_ == ReduceOp::BAND || op.op_ == ReduceOp::BOR || op.op_ == ReduceOp::BXOR;
}

void require_supported(const char* collective, ReduceOp op, at::ScalarType type) {
  bool is_known = at::isIntegralType(type, true) || at::isComplexType(type) || type == at::kFloat ||
                  type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
  TORCH_CHECK_TYPE(is_known && type != at::kUInt64, collective, ": tensors of ", type,
                   " cannot be reduced; convert them first, for example to bfloat16 or int64");
  TORCH_CHECK_TYPE(!is_bitwise(op) || at::isIntegralType(type, true), collective,
                   ": bitwise operations need integers or bool, got ", type);
  TORCH_CHECK_TYPE(!at::isComplexType(type) || is_linear(op), collective,
                   ": complex numbers have sums and averages only");
  TORCH_CHECK_TYPE(type != at::kBool || op.op_ != ReduceOp::AVG, collective, ": bool has no average");
  TORCH_CHECK_TYPE(op.op_ != ReduceOp::PREMUL_SUM || !at::isIntegralType(type, true), collective,
                   ": PREMUL_SUM needs floating-point or complex numbers, got ", type);
  TORCH_CHECK(op.op_ != ReduceOp::UNUSED, collective, ": got an unknown reduction");
}

at::Tensor scaled(const at::Tensor& input, const ReduceOp& op) {
  auto* factor = static_cast<c10d::PreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(factor, "PREMUL_SUM has no factor: make it with torch.distributed._make_nccl_premul_sum()");
  if (factor->tensor_factor.defined()) return input.mul(factor->tensor_factor.to(input.scalar_type()));
  return input.mul(factor->double_factor);
}

}  // namespace

Reduction::Reduction(const char* collective, ReduceOp op, at::ScalarType type, int ranks)
    : op_(op),
      transport_op_(is_linear(op) ? ReduceOp(ReduceOp::SUM) : op),
      type_(type),
      transport_type_(type_of_transport(type)),
      ranks_(ranks) {
  require_supported(collective, op, type);
}

at::Tensor Reduction::prepare(const at::Tensor& input) const {
  auto prepared = op_.op_ == ReduceOp::PREMUL_SUM ? scaled(input, op_) : input;
  prepared = prepared.contiguous();
  if (at::isComplexType(type_)) return at::view_as_real(prepared);
  return prepared.to(transport_type_);
}

void Reduction::store(const at::Tensor& reduced, const at::Tensor& result) const {
  auto source = at::isComplexType(type_) ? at::view_as_complex(reduced) : reduced;
  if (op_.op_ == ReduceOp::AVG) {
    if (at::isIntegralType(type_, false))
      source.div_(ranks_, "trunc");
    else
      source.div_(ranks_);
  }
  if (!source.is_same(result)) result.copy_(source.view(result.sizes()));
}

}  // namespace torch_xpu::distributed
