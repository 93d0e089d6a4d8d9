#include "dnn/attributes.h"

#include <algorithm>

#include "dnn/candidates.h"
#include "dnn/descriptor.h"

namespace xpu::dnn {
namespace {

using dnnl::algorithm;

struct Eltwise {
  algorithm kind;
  float alpha, beta;
};

Eltwise eltwise_of(const PostOp& op) {
  using K = PostOp::Kind;
  switch (op.kind) {
    case K::relu:
      return {algorithm::eltwise_relu, op.alpha, 0};
    case K::gelu_erf:
      return {algorithm::eltwise_gelu_erf, 0, 0};
    case K::gelu_tanh:
      return {algorithm::eltwise_gelu_tanh, 0, 0};
    case K::silu:
      return {algorithm::eltwise_swish, 1, 0};
    case K::tanh:
      return {algorithm::eltwise_tanh, 0, 0};
    case K::sigmoid:
      return {algorithm::eltwise_logistic, 0, 0};
    case K::abs:
      return {algorithm::eltwise_abs, 0, 0};
    case K::sqrt:
      return {algorithm::eltwise_sqrt, 0, 0};
    case K::square:
      return {algorithm::eltwise_square, 0, 0};
    case K::elu:
      return {algorithm::eltwise_elu, op.alpha, 0};
    case K::clip:
      return {algorithm::eltwise_clip, op.alpha, op.beta};
    case K::linear:
      return {algorithm::eltwise_linear, op.alpha, op.beta};
    case K::hardswish:
      return {algorithm::eltwise_hardswish, op.alpha, op.beta};
    default:
      fail<InternalError>("not an elementwise post-op");
  }
}

algorithm binary_of(PostOp::Kind kind) {
  using K = PostOp::Kind;
  switch (kind) {
    case K::add:
      return algorithm::binary_add;
    case K::sub:
      return algorithm::binary_sub;
    case K::mul:
      return algorithm::binary_mul;
    case K::div:
      return algorithm::binary_div;
    case K::max:
      return algorithm::binary_max;
    case K::min:
      return algorithm::binary_min;
    default:
      fail<InternalError>("not a binary post-op");
  }
}

// oneDNN's description of a scale: a mask of the dimensions that it differs along, and the number of elements
// that share one along the last two dimensions.
struct ScaleMask {
  int mask = 0;
  dnnl::memory::dims groups = {};
};

ScaleMask scale_mask_of(const Tensor& scale, const Tensor& of) {
  ScaleMask result;
  if (scale.ndim == 0) return result;
  bool grouped = false;
  for (int d = 0; d < of.ndim; ++d) {
    if (scale.shape[d] != 1) result.mask |= 1 << d;
    bool shared = scale.shape[d] != 1 && scale.shape[d] != of.shape[d];
    reject_unless(!shared || d >= of.ndim - 2, "groups along a batch dimension");
    grouped |= shared;
  }
  // If there are groups along one of the two dimensions, oneDNN also wants the size of those along the other.
  if (grouped)
    for (int d = of.ndim - 2; d < of.ndim; ++d) {
      result.mask |= 1 << d;
      result.groups.push_back(of.shape[d] / scale.shape[d]);
    }
  return result;
}

dnnl::memory::desc flat_desc(const Tensor& t) {
  reject_unless(t.contiguous(), "scales or zero points that are not contiguous");
  return {{t.numel()}, data_type_of(t.dtype), dnnl::memory::format_tag::a};
}

// With memory in another order than its dimensions. Broadcast, it would be read in row-major order.
bool is_permuted(const Tensor& t) {
  std::int64_t step = 0;
  for (int d = t.ndim - 1; d >= 0; --d) {
    if (t.shape[d] == 1) continue;
    if (t.strides[d] < step) return true;
    step = t.strides[d];
  }
  return false;
}

bool is_broadcast(const Tensor& operand, const Tensor& result) {
  return operand.ndim != result.ndim ||
         !std::equal(operand.shape, operand.shape + operand.ndim, result.shape);
}

}  // namespace

void add_post_ops(dnnl::primitive_attr& attributes, Arguments& arguments, const std::vector<PostOp>& post_ops,
                  const ExtraOperands& extras, const Tensor& result, const std::vector<LeadingOp>& first) {
  dnnl::post_ops list;
  auto append_binary = [&](algorithm kind, ExtraOperand extra) {
    reject_unless(extra.tensor != nullptr, "a binary post-op has no operand");
    reject_unless(extra.tensor->ndim <= result.ndim, "an operand has more dimensions than the result");
    reject_unless(!is_broadcast(*extra.tensor, result) || !is_permuted(*extra.tensor),
                  "oneDNN misreads a broadcast operand that is not in row-major order");
    auto desc = describe(with_leading_ones(*extra.tensor, result.ndim));
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(list.len()) | DNNL_ARG_SRC_1, desc, extra.operand});
    list.append_binary(kind, desc);
  };
  for (auto& op : first)
    if (op.operand.tensor) append_binary(op.kind, op.operand);
  for (std::size_t i = 0; i < post_ops.size(); ++i) {
    auto& op = post_ops[i];
    if (op.kind == PostOp::Kind::sum) {
      list.append_sum(op.alpha, static_cast<std::int32_t>(op.beta));
    } else if (op.kind < PostOp::Kind::add) {
      auto eltwise = eltwise_of(op);
      list.append_eltwise(eltwise.kind, eltwise.alpha, eltwise.beta);
    } else {
      append_binary(binary_of(op.kind), extras.operand(i));
    }
  }
  attributes.set_post_ops(list);
}

bool reads_result(const std::vector<PostOp>& post_ops) {
  return std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOp& op) { return op.kind == PostOp::Kind::sum; });
}

void reject_misread_operand(const Tensor& result, ExtraOperand operand) {
  if (!operand.tensor || operand.tensor->numel() == 1) return;
  auto& t = *operand.tensor;
  bool columns = true, in_order = true;
  for (int d = 0; d + 1 < t.ndim; ++d) columns &= t.shape[d] == 1;
  std::int64_t step = 0;
  for (int d = result.ndim - 1; d >= 0; --d) {
    if (result.shape[d] == 1) continue;
    in_order &= result.strides[d] > step;
    step = result.strides[d] * (result.shape[d] - 1);
  }
  reject_unless(in_order && (columns || result.contiguous()),
                "with this layout of the result oneDNN misreads the operands of post-ops");
}

void add_quantization(dnnl::primitive_attr& attributes, Arguments& arguments, int id, const Tensor& of,
                      ExtraOperand scale, ExtraOperand zero_point) {
  if (scale.tensor) {
    auto mask = scale_mask_of(*scale.tensor, of);
    auto desc = flat_desc(*scale.tensor);
    attributes.set_scales(id, mask.mask, mask.groups, desc.get_data_type());
    arguments.push_back({DNNL_ARG_ATTR_SCALES | id, desc, scale.operand});
  }
  if (zero_point.tensor) {
    auto mask = scale_mask_of(*zero_point.tensor, of);
    auto desc = flat_desc(*zero_point.tensor);
    attributes.set_zero_points(id, mask.mask, mask.groups, desc.get_data_type());
    arguments.push_back({DNNL_ARG_ATTR_ZERO_POINTS | id, desc, zero_point.operand});
  }
}

}  // namespace xpu::dnn
