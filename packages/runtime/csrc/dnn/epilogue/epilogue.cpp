#include "dnn/epilogue/epilogue.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

std::string literal(float value) {
  if (!std::isfinite(value)) return join("xpu::bits_as<float>(", std::bit_cast<std::uint32_t>(value), "u)");
  char text[64];
  std::snprintf(text, sizeof text, "%af", static_cast<double>(value));
  return text;
}

std::string eltwise(const PostOp& op) {
  using K = PostOp::Kind;
  auto a = literal(op.alpha), b = literal(op.beta);
  switch (op.kind) {
    case K::relu:
      return join("v > 0 ? v : (T)", a, " * v");
    case K::gelu_erf:
      return "(T)0.5 * v * ((T)1 + xpu::erf(v * (T)0.70710678118654752))";
    case K::gelu_tanh:
      return "(T)0.5 * v * ((T)1 + xpu::tanh((T)0.79788456080286536 * (v + (T)0.044715 * v * v * v)))";
    case K::silu:
      return "v / ((T)1 + xpu::exp(-v))";
    case K::tanh:
      return "xpu::tanh(v)";
    case K::sigmoid:
      return "xpu::logistic(v)";
    case K::abs:
      return "xpu::abs(v)";
    case K::sqrt:
      return "xpu::sqrt(v)";
    case K::square:
      return "v * v";
    case K::elu:
      return join("v > 0 ? v : (T)", a, " * xpu::expm1(v)");
    case K::clip:
      return join("v < (T)", a, " ? (T)", a, " : v > (T)", b, " ? (T)", b, " : v");
    case K::linear:
      return join("(T)", a, " * v + (T)", b);
    case K::hardswish:
      return join("v * xpu::min_of(xpu::max_of((T)", a, " * v + (T)", b, ", (T)0), (T)1)");
    default:
      fail<InternalError>("not an elementwise post-op");
  }
}

// Returns the file of the device library, or null.
const char* header_of(PostOp::Kind kind) {
  using K = PostOp::Kind;
  if (kind == K::gelu_erf) return "erf";
  if (kind == K::gelu_tanh || kind == K::tanh) return "hyperbolic";
  if (kind == K::silu || kind == K::sigmoid || kind == K::elu) return "exp";
  return nullptr;
}

}  // namespace

// Aligns the operand at the last dimension. `of`, if not null, is the tensor whose elements share the
// operand's in groups.
std::string Epilogue::element(ExtraOperand extra, const Tensor* of) {
  auto& t = *extra.tensor;
  reject_unless(t.ndim <= ndim_, "an operand has more dimensions than the result");
  Extra aligned{with_leading_ones(t, ndim_), extra.operand, {}};
  for (int d = 0; d < ndim_; ++d) {
    aligned.share[d] = of && aligned.tensor.shape[d] != 1 ? of->shape[d] / aligned.tensor.shape[d] : 1;
    if (aligned.tensor.shape[d] == 1) aligned.tensor.strides[d] = 0;
  }
  if (t.dtype == DType::f8e8m0) headers_.emplace_back("minifloat");
  extras_.push_back(aligned);
  return join("XPU_EXTRA(", extras_.size(), ")");
}

void Epilogue::dequantize(const char* name, const Tensor& of, ExtraOperand scale, ExtraOperand zero_point,
                          ExtraOperand offset) {
  std::string body;
  if (zero_point.tensor) body += join("  v = v - ", element(zero_point, &of), ";\n");
  if (scale.tensor) body += join("  v = v * ", element(scale, &of), ";\n");
  if (offset.tensor) body += join("  v = v + ", element(offset, &of), ";\n");
  functions_ +=
      join("XPU_FN T ", name, "(T v, const Index& index XPU_EXTRA_PARAMS) {\n", body, "  return v;\n}\n");
}

void Epilogue::binary(PostOp::Kind kind, ExtraOperand operand) {
  if (!operand.tensor) return;
  using K = PostOp::Kind;
  auto w = element(operand, nullptr);
  switch (kind) {
    case K::add:
      return step(join("v = v + ", w, ";"));
    case K::sub:
      return step(join("v = v - ", w, ";"));
    case K::mul:
      return step(join("v = v * ", w, ";"));
    case K::div:
      return step(join("v = v / ", w, ";"));
    case K::max:
      return step(join("v = xpu::max_of(v, ", w, ");"));
    case K::min:
      return step(join("v = xpu::min_of(v, ", w, ");"));
    default:
      fail<InternalError>("not a binary post-op");
  }
}

void Epilogue::by_channel(PostOp::Kind kind, ExtraOperand operand) {
  if (!operand.tensor) return;
  Tensor wide;
  wide.dtype = operand.tensor->dtype;
  wide.ndim = ndim_;
  for (int d = 0; d < ndim_; ++d) wide.shape[d] = 1;
  wide.shape[1] = operand.tensor->shape[0];
  wide.strides[1] = operand.tensor->strides[0];
  binary(kind, {&wide, operand.operand});
}

void Epilogue::apply(const PostOp& op, ExtraOperand operand) {
  if (op.kind == PostOp::Kind::sum) {
    reads_result_ = true;
    auto before = op.beta == 0 ? std::string("before") : join("(before - (T)", literal(op.beta), ")");
    return step(join("v = v + (T)", literal(op.alpha), " * ", before, ";"));
  }
  if (op.kind >= PostOp::Kind::add) {
    reject_unless(operand.tensor != nullptr, "a binary post-op has no operand");
    return binary(op.kind, operand);
  }
  if (auto header = header_of(op.kind)) headers_.emplace_back(header);
  step(join("v = ", eltwise(op), ";"));
}

void Epilogue::dequantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point) {
  if (zero_point.tensor) step(join("v = v - ", element(zero_point, &of), ";"));
  if (scale.tensor) step(join("v = v * ", element(scale, &of), ";"));
}

void Epilogue::quantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point) {
  if (scale.tensor) step(join("v = v / ", element(scale, &of), ";"));
  // Integers are rounded as oneDNN does, not truncated.
  if (zero_point.tensor || (scale.tensor && !is_float(of.dtype))) step("v = __spirv_ocl_rint(v);");
  if (zero_point.tensor) step(join("v = v + ", element(zero_point, &of), ";"));
}

std::string Epilogue::source() const {
  std::string text, parameters, names;
  for (auto& header : headers_) text += join("#include <xpu/", header, ".h>\n");
  for (std::size_t n = 1; n <= extras_.size(); ++n) {
    parameters += join(", xpu::global<const ", kernel_type(extras_[n - 1].tensor.dtype), "> e", n,
                       ", xpu::Broadcast<", ndim_, "> s", n);
    names += join(", e", n, ", s", n);
  }
  return join(text, "#define XPU_EXTRA(n) xpu::load_as<T>(e##n, s##n.at(index))\n#define XPU_EXTRA_PARAMS ",
              parameters, "\n#define XPU_EXTRA_ARGS ", names, "\nusing T = ", type_,
              ";\nusing Index = xpu::Array<xpu::i64, ", ndim_, ">;\n", functions_,
              "XPU_FN T xpu_epilogue(T v, const Index& index, T before XPU_EXTRA_PARAMS) {\n", steps_,
              "  return v;\n}\n");
}

KernelArguments Epilogue::arguments() const {
  KernelArguments arguments;
  for (auto& extra : extras_) {
    std::vector<std::int64_t> where(extra.tensor.strides, extra.tensor.strides + ndim_);
    where.insert(where.end(), extra.share, extra.share + ndim_);
    arguments.operand(extra.operand).bytes(where.data(), where.size() * sizeof where[0]);
  }
  return arguments;
}

void ExtraOperands::add(Problem& problem, const std::vector<PostOp>& post_ops) {
  expect<Unsupported>(post_ops.size() <= max_post_ops, problem.op(), ": got ", post_ops.size(),
                      " post-ops, expected at most ", max_post_ops);
  problem.number(static_cast<std::int64_t>(post_ops.size()));
  for (std::size_t i = 0; i < post_ops.size(); ++i) {
    auto& op = post_ops[i];
    problem.number(static_cast<std::int64_t>(op.kind));
    problem.real(op.alpha);
    problem.real(op.beta);
    operands_[i] = add(problem, op.operand);
  }
}

}  // namespace xpu::dnn
