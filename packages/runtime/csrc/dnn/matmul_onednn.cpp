#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue_step.h"
#include "dnn/matmul_problem.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

Tensor transposed(Tensor t) {
  std::swap(t.shape[t.ndim - 2], t.shape[t.ndim - 1]);
  std::swap(t.strides[t.ndim - 2], t.strides[t.ndim - 1]);
  return t;
}

bool column_major(const Tensor& t) {
  return t.strides[t.ndim - 2] == 1 && t.shape[t.ndim - 2] != 1 && t.shape[t.ndim - 1] != 1 &&
         t.strides[t.ndim - 1] != 1;
}

// oneDNN's fast code wants one of the last two dimensions dense.
void check_strides(const Tensor& t, const char* name) {
  bool dense = false;
  for (int d = t.ndim - 2; d < t.ndim; ++d) dense |= t.strides[d] == 1 || t.shape[d] == 1;
  refuse_unless(dense, "neither of the last two dimensions of ", name, " is dense");
}

dnnl::primitive_attr attributes_of(const MatmulProblem& p) {
  auto attributes = basic_attributes(p.options.deterministic);
  using Mode = dnnl::fpmath_mode;
  bool integer_weights = is_float(p.a.dtype) && !is_float(p.b.dtype);
  auto mode = p.a.dtype == DType::f16 ? Mode::f16 : p.a.dtype == DType::bf16 ? Mode::bf16 : Mode::strict;
  if (integer_weights)
    attributes.set_fpmath_mode(mode, true);
  else if (p.options.allow_tf32)
    attributes.set_fpmath_mode(Mode::tf32);
  return attributes;
}

void add_operand_quantization(const MatmulProblem& p, dnnl::primitive_attr& attributes,
                              Arguments& arguments) {
  add_quantization(attributes, arguments, DNNL_ARG_SRC, p.a, p.scale_a, p.zero_a);
  add_quantization(attributes, arguments, DNNL_ARG_WEIGHTS, p.b, p.scale_b, p.zero_b);
}

void check_problem(const MatmulProblem& p) {
  auto refusal = onednn_matmul_refusal(p.problem.device());
  refuse_unless(refusal.empty(), refusal);
  refuse_unless(p.k() > 0, "nothing to sum over");
  check_strides(p.a, "a");
  check_strides(p.b, "b");
}

std::string add_primitive(Plan& plan, int device, const dnnl::matmul::primitive_desc& desc,
                          Arguments arguments) {
  auto name = fast_implementation(desc);
  plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::matmul(desc), std::move(arguments)));
  return name;
}

// What oneDNN calls a bias differs along the columns only; another one is added after.
bool along_columns(const Tensor& bias) {
  for (int d = 0; d + 1 < bias.ndim; ++d)
    if (bias.shape[d] != 1) return false;
  return true;
}

}  // namespace

std::string matmul_onednn(const MatmulProblem& p, Plan& plan) {
  check_problem(p);
  check_strides(p.c, "c");
  // A column-major result is the row-major one of the operands turned round.
  bool turn = p.plain() && column_major(p.c);
  auto a = describe(turn ? transposed(p.b) : p.a), b = describe(turn ? transposed(p.a) : p.b);
  auto c = describe(turn ? transposed(p.c) : p.c);
  Arguments arguments{
      {DNNL_ARG_SRC, a, turn ? 1 : 0}, {DNNL_ARG_WEIGHTS, b, turn ? 0 : 1}, {DNNL_ARG_DST, c, 2}};
  auto attributes = attributes_of(p);
  add_operand_quantization(p, attributes, arguments);
  add_quantization(attributes, arguments, DNNL_ARG_DST, p.c, p.scale_c, p.zero_c);
  bool own_bias = p.bias.tensor && along_columns(*p.bias.tensor);
  if (!own_bias) refuse_misread_operand(p.c, p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    refuse_misread_operand(p.c, p.post_ops.operand(i));
  add_post_ops(attributes, arguments, p.options.post_ops, p.post_ops, p.c.ndim, own_bias ? Extra{} : p.bias);
  auto& engine = engine_of(p.problem.device());
  if (!own_bias)
    return add_primitive(plan, p.problem.device(), {engine, a, b, c, attributes}, std::move(arguments));
  auto bias = describe(with_leading_ones(*p.bias.tensor, p.c.ndim));
  arguments.push_back({DNNL_ARG_BIAS, bias, p.bias.operand});
  return add_primitive(plan, p.problem.device(), {engine, a, b, bias, c, attributes}, std::move(arguments));
}

namespace {

bool eight_bit_float(DType t) {
  return t == DType::f8e4m3 || t == DType::f8e5m2;
}

// A scale that is one number along what is summed over can be applied to the sum.
bool constant_along_k(Extra scale, int k_from_the_end) {
  return !scale.tensor || scale.tensor->ndim == 0 ||
         scale.tensor->shape[scale.tensor->ndim - k_from_the_end] == 1;
}

}  // namespace

std::string matmul_onednn_and_kernel(const MatmulProblem& p, Plan& plan) {
  check_problem(p);
  int device = p.problem.device(), operand_a = 0, operand_b = 1;
  bool integers = !is_float(p.a.dtype) && !is_float(p.b.dtype);
  bool scales_later = constant_along_k(p.scale_a, 1) && constant_along_k(p.scale_b, 2) && !p.zero_a.tensor &&
                      !p.zero_b.tensor;
  // bf16 holds every fp8 number.
  auto a = eight_bit_float(p.a.dtype) ? converted(plan, device, p.a, operand_a, DType::bf16) : p.a;
  auto b = eight_bit_float(p.b.dtype) ? converted(plan, device, p.b, operand_b, DType::bf16) : p.b;
  auto sums = row_major(p.c, integers && scales_later ? DType::i32 : DType::f32);
  int temporary = plan.temporary(static_cast<std::size_t>(sums.numel()) * size_of(sums.dtype));
  Arguments arguments{{DNNL_ARG_SRC, describe(a), operand_a},
                      {DNNL_ARG_WEIGHTS, describe(b), operand_b},
                      {DNNL_ARG_DST, describe(sums), temporary}};
  auto attributes = attributes_of(p);
  if (!scales_later) add_operand_quantization(p, attributes, arguments);
  dnnl::matmul::primitive_desc desc(engine_of(device), describe(a), describe(b), describe(sums), attributes);
  auto name = add_primitive(plan, device, desc, std::move(arguments));
  bool whole = sums.dtype == DType::i32 && p.options.post_ops.empty() && !p.options.a && !p.options.b &&
               !p.options.c && !is_float(p.c.dtype);
  auto epilogue = matmul_epilogue(p, whole ? "xpu::i32" : "float", scales_later);
  add_epilogue_step(plan, device, {sums, temporary}, {p.c, 2}, epilogue);
  return name;
}

}  // namespace xpu::dnn
