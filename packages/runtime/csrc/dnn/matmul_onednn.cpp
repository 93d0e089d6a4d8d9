#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue_step.h"
#include "dnn/matmul_problem.h"

namespace xpu::dnn {
namespace {

Tensor transposed(Tensor t) {
  std::swap(t.shape[t.ndim - 2], t.shape[t.ndim - 1]);
  std::swap(t.strides[t.ndim - 2], t.strides[t.ndim - 1]);
  return t;
}

bool column_major(const Tensor& t) {
  return t.strides[t.ndim - 2] == 1 && t.shape[t.ndim - 2] != 1 && t.shape[t.ndim - 1] != 1 && t.strides[t.ndim - 1] != 1;
}

// oneDNN's fast code wants one of the last two dimensions dense.
void check_strides(const Tensor& t, const char* name) {
  bool dense = false;
  for (int d = t.ndim - 2; d < t.ndim; ++d) dense |= t.strides[d] == 1 || t.shape[d] == 1;
  refuse_unless(dense, "neither of the last two dimensions of ", name, " is dense");
}

dnnl::primitive_attr attributes_of(const MatmulProblem& p, Arguments& arguments) {
  auto attributes = basic_attributes(p.options.deterministic);
  using Mode = dnnl::fpmath_mode;
  bool integer_weights = is_float(p.a.dtype) && !is_float(p.b.dtype);
  if (integer_weights) attributes.set_fpmath_mode(p.a.dtype == DType::f16 ? Mode::f16 : p.a.dtype == DType::bf16 ? Mode::bf16 : Mode::strict, true);
  else if (p.options.allow_tf32) attributes.set_fpmath_mode(Mode::tf32);
  add_quantization(attributes, arguments, DNNL_ARG_SRC, p.a, p.scale_a, p.zero_a);
  add_quantization(attributes, arguments, DNNL_ARG_WEIGHTS, p.b, p.scale_b, p.zero_b);
  return attributes;
}

void check_problem(const MatmulProblem& p) {
  refuse_unless(refusal_of(p.problem.device()).empty(), refusal_of(p.problem.device()));
  refuse_unless(p.k() > 0, "nothing to sum over");
  check_strides(p.a, "a");
  check_strides(p.b, "b");
}

std::string add_primitive(Plan& plan, int device, const dnnl::matmul::primitive_desc& desc, Arguments arguments) {
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
  Arguments arguments{{DNNL_ARG_SRC, a, turn ? 1 : 0}, {DNNL_ARG_WEIGHTS, b, turn ? 0 : 1}, {DNNL_ARG_DST, c, 2}};
  auto attributes = attributes_of(p, arguments);
  add_quantization(attributes, arguments, DNNL_ARG_DST, p.c, p.scale_c, p.zero_c);
  bool own_bias = p.bias.tensor && along_columns(*p.bias.tensor);
  add_post_ops(attributes, arguments, p.options.post_ops, p.post_ops, p.c.ndim, own_bias ? Extra{} : p.bias);
  auto& engine = engine_of(p.problem.device());
  if (!own_bias) return add_primitive(plan, p.problem.device(), {engine, a, b, c, attributes}, std::move(arguments));
  auto bias = describe(with_leading_ones(*p.bias.tensor, p.c.ndim));
  arguments.push_back({DNNL_ARG_BIAS, bias, p.bias.operand});
  return add_primitive(plan, p.problem.device(), {engine, a, b, bias, c, attributes}, std::move(arguments));
}

std::string matmul_onednn_and_kernel(const MatmulProblem& p, Plan& plan) {
  check_problem(p);
  bool integers = !is_float(p.a.dtype) && !is_float(p.b.dtype) && !p.options.a && !p.options.b;
  auto sum_type = integers ? DType::i32 : DType::f32;
  dnnl::memory::dims size(p.c.shape, p.c.shape + p.c.ndim), dense(p.c.ndim, 1);
  for (int d = p.c.ndim - 2; d >= 0; --d) dense[d] = dense[d + 1] * size[d + 1];
  dnnl::memory::desc sums(size, data_type_of(sum_type), dense);
  int temporary = plan.temporary(sums.get_size());
  Arguments arguments{{DNNL_ARG_SRC, describe(p.a), 0}, {DNNL_ARG_WEIGHTS, describe(p.b), 1}, {DNNL_ARG_DST, sums, temporary}};
  auto attributes = attributes_of(p, arguments);
  dnnl::matmul::primitive_desc desc(engine_of(p.problem.device()), describe(p.a), describe(p.b), sums, attributes);
  auto name = add_primitive(plan, p.problem.device(), desc, std::move(arguments));
  bool whole = integers && p.options.post_ops.empty() && !p.options.c && !is_float(p.c.dtype);
  add_epilogue_step(plan, p.problem.device(), temporary, sum_type, p.c, 2, matmul_epilogue(p, whole ? "xpu::i32" : "float"));
  return name;
}

}  // namespace xpu::dnn
