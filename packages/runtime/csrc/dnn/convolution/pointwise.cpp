// A 1x1 convolution of tensors with dense channels, as a product of matrices: the weights times each image.
//
// oneDNN's convolutions would reorder such tensors and their results, which costs more than the product.
#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/convolution/problem.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/math_type.h"
#include "dnn/reorder_step.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

using dnnl::memory;

// With fewer columns than this the reorder costs less.
constexpr std::int64_t min_columns = 192;

// Returns N C [D [H]] W as N C HW.
Tensor as_matrices(const Tensor& t, const char* what) {
  Tensor m = t;
  m.ndim = 3;
  m.shape[2] = 1;
  m.strides[2] = 1;
  for (int d = t.ndim - 1; d >= 2; --d) {
    reject_unless(t.shape[d] == 1 || t.strides[d] == m.shape[2], "the channels of ", what, " are not dense");
    m.shape[2] *= t.shape[d];
  }
  return m;
}

Tensor weights_matrix(const ConvProblem& p, bool transposed) {
  Tensor m(nullptr, p.w.dtype, {1, p.w.shape[0], p.w.shape[1]});
  m.strides[1] = p.w.strides[0];
  m.strides[2] = p.w.strides[1];
  if (transposed) {
    std::swap(m.shape[1], m.shape[2]);
    std::swap(m.strides[1], m.strides[2]);
  }
  m.strides[0] = p.w.numel();
  return m;
}

void check_pointwise(const ConvProblem& p) {
  int device = p.problem.device();
  reject_unless(unsupported_reason(device).empty(), unsupported_reason(device));
  reject_unless(!device_info(device).is_gpu, "1x1 convolutions are matrix products only on a CPU");
  bool pointwise = p.groups == 1 && p.sum != ConvSum::w;
  for (int d = 0; d < p.spatial; ++d)
    pointwise &= p.w.shape[2 + d] == 1 && p.stride[d] == 1 && p.padding_l[d] == 0 && p.padding_r[d] == 0;
  reject_unless(pointwise, "not a 1x1 convolution");
  reject_unless(is_float(p.x.dtype) && is_float(p.w.dtype) && !p.is_quantized(), "not all floats");
  for (auto& op : p.options.post_ops) reject_unless(!p.forward || !op.operand, "a post-op has an operand");
}

}  // namespace

std::string conv_pointwise(const ConvProblem& p, Plan& plan) {
  check_pointwise(p);
  int device = p.problem.device();
  auto x = as_matrices(p.x, "the source"), y = as_matrices(p.y, "the result");
  reject_unless(x.shape[2] >= min_columns, "images of ", x.shape[2], " elements are reordered faster");
  bool to_y = p.sum == ConvSum::y;
  auto& right = to_y ? x : y;
  auto& result = to_y ? y : x;
  auto weights = weights_matrix(p, !to_y);
  auto type = math_type(device, result.dtype, result.numel() * weights.shape[2],
                        weights.numel() + right.numel() + result.numel());
  auto in_math_type = [&](const memory::desc& desc) { return in_type(desc, result.dtype, type); };
  PlacedOperand a{describe(weights), 1}, b{describe(right), to_y ? 0 : 2},
      c{describe(result), p.result_operand()};
  Arguments arguments;
  auto attributes = basic_attributes(p.options.deterministic);
  if (p.options.allow_tf32) attributes.set_fpmath_mode(dnnl::fpmath_mode::tf32);
  if (p.forward) {
    Tensor rows = p.bias.tensor ? *p.bias.tensor : Tensor();
    if (p.bias.tensor) {
      rows.ndim = 3;
      rows.shape[1] = rows.shape[0];
      rows.strides[1] = rows.strides[0];
      rows.shape[0] = rows.shape[2] = 1;
      rows.strides[2] = 1;
    }
    ExtraOperand bias{p.bias.tensor ? &rows : nullptr, p.bias.operand};
    reject_misread_operand(result, bias);
    add_post_ops(attributes, arguments, p.options.post_ops, p.extras, result,
                 {{dnnl::algorithm::binary_add, bias}});
  }
  dnnl::matmul::primitive_desc desc(engine_of(device), in_math_type(a.desc), in_math_type(b.desc),
                                    in_math_type(c.desc), attributes);
  auto name = fast_implementation(desc);
  bool reads = p.forward && reads_result(p.options.post_ops);
  auto left = reorder_input(plan, device, a, in_math_type(a.desc)),
       images = reorder_input(plan, device, b, in_math_type(b.desc)),
       target = reads ? reorder_input(plan, device, c, in_math_type(c.desc))
                      : stage_output(plan, c, in_math_type(c.desc));
  arguments.insert(arguments.end(), {{DNNL_ARG_SRC, left.desc, left.operand},
                                     {DNNL_ARG_WEIGHTS, images.desc, images.operand},
                                     {DNNL_ARG_DST, target.desc, target.operand}});
  plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::matmul(desc), std::move(arguments)));
  reorder_output(plan, device, target, c);
  return name;
}

}  // namespace xpu::dnn
