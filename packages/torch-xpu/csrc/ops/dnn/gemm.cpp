#include "ops/dnn/gemm.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>

#include "device/errors.h"
#include "ops/tensor.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::dnn::PostOp;
using xpu::kernels::Elementwise;

bool is_one(const at::Scalar& s) {
  return s.equal(1);
}
bool is_zero(const at::Scalar& s) {
  return s.equal(0);
}

// c = alpha * product + beta * addend, for epilogues that the runtime's post-ops, which compute in f32,
// cannot do.
void apply_epilogue(const Tensor& c, const Tensor& product, const GemmEpilogue& epilogue) {
  static const auto& scale =
      *new Elementwise({.name = "scale_product", .outputs = {"p0 * a0"}, .inputs = 1, .scalars = 1});
  static const auto& blend = *new Elementwise(
      {.name = "blend_product", .outputs = {"p0 * a0 + p1 * a1"}, .inputs = 2, .scalars = 2});
  auto stream = stream_of(c);
  auto out = view_of(c);
  xpu::Scalar factors[] = {scalar_of(epilogue.alpha), scalar_of(epilogue.beta)};
  if (is_zero(epilogue.beta)) {
    auto in = view_of(product);
    return scale(stream, {&out, 1}, {&in, 1}, {factors, 1}, out.dtype);
  }
  xpu::Tensor in[] = {view_of(product), view_of(epilogue.addend.resolve_conj().expand_as(c))};
  blend(stream, {&out, 1}, in, factors, out.dtype);
}

// Returns b as a real matrix for products with interleaved complex ones: [re im; -im re] for each element.
Tensor complex_as_real(const Tensor& b, bool conjugate_a) {
  static const auto& kernel = *new Elementwise({.name = "complex_as_real",
                                                .outputs = {"a0", "p1 * a1", "p0 * p1 * -a1", "p0 * a0"},
                                                .inputs = 2,
                                                .scalars = 2});
  auto shape = b.sizes().vec();
  shape.insert(shape.end() - 1, 2);
  shape.push_back(2);
  auto result = at::empty(shape, b.options().dtype(c10::toRealValueType(b.scalar_type())));
  auto parts = at::view_as_real(b.is_conj() ? b.conj() : b);
  xpu::Tensor in[] = {view_of(parts.select(-1, 0)), view_of(parts.select(-1, 1))};
  auto place = [&](int row, int column) { return view_of(result.select(-3, row).select(-1, column)); };
  xpu::Tensor out[] = {place(0, 0), place(0, 1), place(1, 0), place(1, 1)};
  xpu::Scalar signs[] = {conjugate_a ? -1.0 : 1.0, b.is_conj() ? -1.0 : 1.0};
  kernel(stream_of(b), out, in, signs);
  shape = b.sizes().vec();
  shape[shape.size() - 2] *= 2;
  shape.back() *= 2;
  return result.reshape(shape);
}

// Views a complex matrix with contiguous rows as a real one with twice the columns.
Tensor interleaved(const Tensor& t) {
  auto shape = t.sizes().vec();
  shape.back() *= 2;
  return at::view_as_real(t).flatten(-2).view(shape);
}

bool has_contiguous_rows(const Tensor& t) {
  return t.size(-1) == 0 || t.stride(-1) == 1;
}

void gemm_complex(const Tensor& c, const Tensor& a, const Tensor& b) {
  bool conjugate = a.is_conj();
  auto plain = conjugate ? a.conj() : a;
  if (!has_contiguous_rows(plain)) plain = plain.contiguous();
  auto target = has_contiguous_rows(c) ? c : at::empty(c.sizes(), c.options());
  gemm(interleaved(target), interleaved(plain), complex_as_real(b, conjugate));
  if (!target.is_same(c)) c.copy_(target);
}

// A product and epilogue that one call of the runtime computes.
void gemm_real(const Tensor& c, const Tensor& a, const Tensor& b, const GemmEpilogue& epilogue) {
  auto options = matmul_options();
  auto stream = stream_of(c);
  auto out = view_of(c);
  if (!is_one(epilogue.alpha))
    options.post_ops.push_back({PostOp::Kind::linear, epilogue.alpha.to<float>(), 0, {}});
  if (!is_zero(epilogue.beta)) {
    auto addend = broadcast_view(epilogue.addend, c.sizes());
    if (is_one(epilogue.alpha) && is_one(epilogue.beta) && addend.data != out.data) {
      options.bias = addend;
    } else {
      if (addend.data != out.data) xpu::kernels::copy(stream, out, addend);
      options.post_ops.push_back({PostOp::Kind::sum, epilogue.beta.to<float>(), 0, {}});
    }
  }
  options.post_ops.insert(options.post_ops.end(), epilogue.post_ops.begin(), epilogue.post_ops.end());
  xpu::dnn::matmul(stream, view_of(a), view_of(b), out, options);
}

}  // namespace

void multiply_before_bias(xpu::dnn::MatmulOptions& options, const Tensor& factor) {
  options.post_ops.push_back({.kind = PostOp::Kind::mul, .operand = view_of(factor)});
  if (options.bias) options.post_ops.push_back({.kind = PostOp::Kind::add, .operand = options.bias});
  options.bias.reset();
}

xpu::dnn::MatmulOptions matmul_options() {
  xpu::dnn::MatmulOptions options;
  options.deterministic = at::globalContext().deterministicAlgorithms();
  options.allow_tf32 = at::globalContext().allowTF32OneDNN();
  return options;
}

bool has_post_ops(at::ScalarType type) {
  return at::isFloatingType(type) && type != at::kDouble;
}

void gemm(const Tensor& c, const Tensor& a, const Tensor& b, const GemmEpilogue& epilogue) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.scalar_type(),
              " != ", b.scalar_type());
  TORCH_CHECK(!epilogue.addend.defined() || epilogue.addend.scalar_type() == a.scalar_type(),
              "self and mat2 must have the same dtype, but got ", epilogue.addend.scalar_type(), " and ",
              a.scalar_type());
  if (c.numel() == 0) return;
  if (c.is_conj()) {
    auto plain = at::empty(c.sizes(), c.options());
    gemm(plain, a, b, epilogue);
    c.copy_(plain);
    return;
  }
  auto type = c.scalar_type();
  bool complex = c.is_complex(), plain = is_one(epilogue.alpha) && is_zero(epilogue.beta);
  // 8-bit integers are summed in 32 bits; the result wraps instead of saturating.
  bool narrow = type == at::kByte || type == at::kChar;
  bool f32_steps = has_post_ops(type);
  bool just_adds =
      is_one(epilogue.alpha) && is_one(epilogue.beta) && epilogue.addend.data_ptr() != c.data_ptr();
  TORCH_CHECK(epilogue.post_ops.empty() || f32_steps, "steps after a product of ", type,
              " are not supported");
  TORCH_CHECK_NOT_IMPLEMENTED(type != at::kBool, "\"matmul\" not implemented for 'Bool'");
  translate_errors([&] {
    if (narrow || (!plain && (complex || !(f32_steps || just_adds)))) {
      auto product = at::empty(c.sizes(), c.options().dtype(narrow ? at::kInt : type));
      gemm(product, a, b);
      apply_epilogue(c, product, epilogue);
    } else if (complex) {
      gemm_complex(c, a, b);
    } else {
      gemm_real(c, a, b, epilogue);
    }
  });
}

}  // namespace torch_xpu
