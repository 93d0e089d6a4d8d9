#include "ops/product.h"

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

// c = alpha * product + beta * addend, for what the steps after a product cannot say: they compute in f32.
void combine(const Tensor& c, const Tensor& product, const Product& how) {
  static const auto& scale =
      *new Elementwise({.name = "scale_product", .outputs = {"p0 * a0"}, .inputs = 1, .scalars = 1});
  static const auto& blend = *new Elementwise(
      {.name = "blend_product", .outputs = {"p0 * a0 + p1 * a1"}, .inputs = 2, .scalars = 2});
  auto stream = stream_of(c);
  auto out = view_of(c);
  xpu::Scalar factors[] = {scalar_of(how.alpha), scalar_of(how.beta)};
  if (is_zero(how.beta)) {
    auto in = view_of(product);
    return scale(stream, {&out, 1}, {&in, 1}, {factors, 1}, out.dtype);
  }
  xpu::Tensor in[] = {view_of(product), view_of(how.addend.resolve_conj().expand_as(c))};
  blend(stream, {&out, 1}, in, factors, out.dtype);
}

// b as the real matrix by which an interleaved complex one is multiplied: [re im; -im re] for each element.
Tensor spread(const Tensor& b, bool conjugate_a) {
  static const auto& kernel = *new Elementwise({.name = "complex_as_real",
                                                .outputs = {"a0", "p1 * a1", "p0 * p1 * -a1", "p0 * a0"},
                                                .inputs = 2,
                                                .scalars = 2});
  auto shape = b.sizes().vec();
  shape.insert(shape.end() - 1, 2);
  shape.push_back(2);
  auto spread = at::empty(shape, b.options().dtype(c10::toRealValueType(b.scalar_type())));
  auto parts = at::view_as_real(b.is_conj() ? b.conj() : b);
  xpu::Tensor in[] = {view_of(parts.select(-1, 0)), view_of(parts.select(-1, 1))};
  auto place = [&](int row, int column) { return view_of(spread.select(-3, row).select(-1, column)); };
  xpu::Tensor out[] = {place(0, 0), place(0, 1), place(1, 0), place(1, 1)};
  xpu::Scalar signs[] = {conjugate_a ? -1.0 : 1.0, b.is_conj() ? -1.0 : 1.0};
  kernel(stream_of(b), out, in, signs);
  shape = b.sizes().vec();
  shape[shape.size() - 2] *= 2;
  shape.back() *= 2;
  return spread.reshape(shape);
}

// A complex matrix with dense rows is a real one of twice the columns.
Tensor interleaved(const Tensor& t) {
  auto shape = t.sizes().vec();
  shape.back() *= 2;
  return at::view_as_real(t).flatten(-2).view(shape);
}

bool has_dense_rows(const Tensor& t) {
  return t.size(-1) == 0 || t.stride(-1) == 1;
}

void multiply_complex(const Tensor& c, const Tensor& a, const Tensor& b) {
  bool conjugate = a.is_conj();
  auto plain = conjugate ? a.conj() : a;
  if (!has_dense_rows(plain)) plain = plain.contiguous();
  auto target = has_dense_rows(c) ? c : at::empty(c.sizes(), c.options());
  multiply(interleaved(target), interleaved(plain), spread(b, conjugate));
  if (!target.is_same(c)) c.copy_(target);
}

// What one call of the runtime computes.
void multiply_real(const Tensor& c, const Tensor& a, const Tensor& b, const Product& how) {
  auto options = matmul_options();
  auto stream = stream_of(c);
  auto out = view_of(c);
  if (!is_one(how.alpha)) options.post_ops.push_back({PostOp::Kind::linear, how.alpha.to<float>(), 0, {}});
  if (!is_zero(how.beta)) {
    auto addend = view_of(how.addend.expand_as(c));
    for (int d = 0; d < addend.ndim; ++d)
      if (addend.strides[d] == 0) addend.shape[d] = 1;
    if (is_one(how.alpha) && is_one(how.beta) && addend.data != out.data) {
      options.bias = addend;
    } else {
      if (addend.data != out.data) xpu::kernels::copy(stream, out, addend);
      options.post_ops.push_back({PostOp::Kind::sum, how.beta.to<float>(), 0, {}});
    }
  }
  if (how.activation) options.post_ops.push_back({*how.activation, 0, 0, {}});
  xpu::dnn::matmul(stream, view_of(a), view_of(b), out, options);
}

}  // namespace

xpu::dnn::MatmulOptions matmul_options() {
  xpu::dnn::MatmulOptions options;
  options.deterministic = at::globalContext().deterministicAlgorithms();
  options.allow_tf32 = at::globalContext().allowTF32OneDNN();
  return options;
}

void multiply(const Tensor& c, const Tensor& a, const Tensor& b, const Product& how) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.scalar_type(),
              " != ", b.scalar_type());
  TORCH_CHECK(!how.addend.defined() || how.addend.scalar_type() == a.scalar_type(),
              "self and mat2 must have the same dtype, but got ", how.addend.scalar_type(), " and ",
              a.scalar_type());
  if (c.numel() == 0) return;
  if (c.is_conj()) {
    auto plain = at::empty(c.sizes(), c.options());
    multiply(plain, a, b, how);
    c.copy_(plain);
    return;
  }
  auto type = c.scalar_type();
  bool complex = c.is_complex(), plain = is_one(how.alpha) && is_zero(how.beta);
  // Eight bits are summed in more, and what is over is dropped rather than clamped.
  bool narrow = type == at::kByte || type == at::kChar;
  bool f32_steps = at::isFloatingType(type) && type != at::kDouble;
  bool just_adds = is_one(how.alpha) && is_one(how.beta) && how.addend.data_ptr() != c.data_ptr();
  TORCH_CHECK_NOT_IMPLEMENTED(type != at::kBool, "\"matmul\" not implemented for 'Bool'");
  translated([&] {
    if (narrow || (!plain && (complex || !(f32_steps || just_adds)))) {
      auto product = at::empty(c.sizes(), c.options().dtype(narrow ? at::kInt : type));
      multiply(product, a, b);
      combine(c, product, how);
    } else if (complex) {
      multiply_complex(c, a, b);
    } else {
      multiply_real(c, a, b, how);
    }
  });
}

}  // namespace torch_xpu
