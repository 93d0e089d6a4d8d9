// Products of matrices and vectors.
#include <ATen/ops/_addmm_activation_meta.h>
#include <ATen/ops/addbmm_native.h>
#include <ATen/ops/addmm_meta.h>
#include <ATen/ops/addmv_meta.h>
#include <ATen/ops/baddbmm_meta.h>
#include <ATen/ops/bmm_meta.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm_meta.h>
#include <ATen/ops/relu.h>

#include "device/errors.h"
#include "ops/dnn/gemm.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/reduce.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using xpu::dnn::PostOp;

constexpr auto plain_product = [](const auto& op, const Tensor& a, const Tensor& b) {
  gemm(op.output(), a, b);
};

constexpr auto added_product = [](const auto& op, const Tensor& self, const Tensor& a, const Tensor& b,
                                  const Scalar& beta, const Scalar& alpha) {
  gemm(op.output(), a, b, {alpha, beta, self});
};

constexpr auto activated_product = [](const auto& op, const Tensor& self, const Tensor& a, const Tensor& b,
                                      const Scalar& beta, const Scalar& alpha, bool gelu) {
  auto result = op.output();
  PostOps steps{{gelu ? PostOp::Kind::gelu_erf : PostOp::Kind::relu}};
  if (has_post_ops(result.scalar_type())) return gemm(result, a, b, {alpha, beta, self, steps});
  gemm(result, a, b, {alpha, beta, self});
  gelu ? at::gelu_(result) : at::relu_(result);
};

constexpr auto added_vector = [](const auto& op, const Tensor& self, const Tensor& a, const Tensor& b,
                                 const Scalar& beta, const Scalar& alpha) {
  gemm(op.output().unsqueeze(1), a, b.unsqueeze(1), {alpha, beta, self.dim() ? self.unsqueeze(1) : self});
};

void check_out_dtype(const Tensor& a, at::ScalarType type) {
  TORCH_CHECK(type == a.scalar_type() ||
                  (type == at::kFloat && (a.scalar_type() == at::kHalf || a.scalar_type() == at::kBFloat16)),
              "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs, got ", type, " for ",
              a.scalar_type());
}

Tensor& wide_product_out(const Tensor& a, const Tensor& b, at::ScalarType type, Tensor& out) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, out);
  check_out_dtype(a, type);
  TORCH_CHECK(a.dim() == b.dim() && a.dim() >= 2 && a.size(-1) == b.size(-2) &&
                  (a.dim() == 2 || a.size(0) == b.size(0)),
              "mat1 and mat2 shapes cannot be multiplied: ", a.sizes(), " and ", b.sizes());
  auto shape = a.sizes().vec();
  shape.back() = b.size(-1);
  make_output(out, shape, {}, a.options().dtype(type));
  gemm(out, a, b);
  return out;
}

// The first argument of the other forms broadcasts; one that is written to must not.
template <class Meta, auto kernel>
Tensor& added_in_place(Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                       const Scalar& alpha) {
  if (a.dim() > 1 && b.dim() > 0) {
    at::DimVector sizes(a.sizes().slice(0, static_cast<std::size_t>(a.dim() - 1)));
    if (b.dim() == a.dim()) sizes.push_back(b.size(-1));
    TORCH_CHECK(self.sizes() == at::IntArrayRef(sizes), "Bad in-place call: input tensor size ", self.sizes(),
                " and output tensor size ", at::IntArrayRef(sizes), " should match");
  }
  return StructuredForms<Meta, 1, kernel>::out1(self, a, b, beta, alpha, self);
}

Tensor wide_product(const Tensor& a, const Tensor& b, at::ScalarType type) {
  Tensor out;
  return wide_product_out(a, b, type, out);
}

Tensor& wide_added_product_out(const Tensor& self, const Tensor& a, const Tensor& b, at::ScalarType type,
                               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  check_one_device(self, a, b);
  auto product = wide_product(a, b, type);
  make_output(out, product.sizes(), {}, product.options());
  return out.copy_(product.mul_(alpha).add_(self, beta));
}

Tensor wide_added_product(const Tensor& self, const Tensor& a, const Tensor& b, at::ScalarType type,
                          const Scalar& beta, const Scalar& alpha) {
  Tensor out;
  return wide_added_product_out(self, a, b, type, beta, alpha, out);
}

Tensor& integer_product_out(const Tensor& a, const Tensor& b, Tensor& out) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, out);
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "_int_mm: shapes ", a.sizes(), " and ",
              b.sizes(), " cannot be multiplied");
  TORCH_CHECK(a.scalar_type() == at::kChar && b.scalar_type() == at::kChar,
              "_int_mm: expected int8 matrices, got ", a.scalar_type(), " and ", b.scalar_type());
  make_output(out, {a.size(0), b.size(1)}, {}, a.options().dtype(at::kInt));
  gemm(out, a, b);
  return out;
}

Tensor integer_product(const Tensor& a, const Tensor& b) {
  Tensor out;
  return integer_product_out(a, b, out);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  static const auto& kernel = *new xpu::kernels::Reduction({.name = "dot",
                                                            .accumulators = {{"T", "0"}},
                                                            .map = {"a0 * a1"},
                                                            .combine = "s0 += r0;",
                                                            .outputs = {"s0"},
                                                            .inputs = 2});
  auto guard = guard_for(a, b);
  check_one_device(a, b);
  TORCH_CHECK(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ", a.dim(), "D and ", b.dim(),
              "D tensors");
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ", a.scalar_type(), " and ",
              b.scalar_type());
  TORCH_CHECK(a.numel() == b.numel(), "inconsistent tensor size, expected tensor [", a.numel(), "] and src [",
              b.numel(), "] to have the same number of elements, but got ", a.numel(), " and ", b.numel(),
              " elements respectively");
  TORCH_CHECK_NOT_IMPLEMENTED(a.scalar_type() != at::kBool, "\"dot\" not implemented for 'Bool'");
  auto out = at::empty({}, a.options());
  auto left = a.resolve_conj().resolve_neg(), right = b.resolve_conj().resolve_neg();
  xpu::Tensor in[] = {view_of(left), view_of(right)}, result = view_of(out);
  const int dims[] = {0};
  translate_errors([&] { kernel(stream_of(a), {&result, 1}, in, dims); });
  return out;
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  return dot(a.conj(), b);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_mm, plain_product>(m, "mm", "mm.out");
  structured<at::meta::structured_bmm, plain_product>(m, "bmm", "bmm.out");
  structured<at::meta::structured_addmm, added_product>(m, "addmm", "addmm.out");
  m.impl("addmm_", added_in_place<at::meta::structured_addmm, added_product>);
  structured<at::meta::structured_baddbmm, added_product>(m, "baddbmm", "baddbmm.out");
  m.impl("baddbmm_", added_in_place<at::meta::structured_baddbmm, added_product>);
  structured<at::meta::structured_addmv, added_vector>(m, "addmv", "addmv.out");
  m.impl("addmv_", added_in_place<at::meta::structured_addmv, added_vector>);
  structured<at::meta::structured__addmm_activation, activated_product>(m, "_addmm_activation",
                                                                        "_addmm_activation.out");
  for (auto* name : {"mm.dtype", "bmm.dtype"}) m.impl(name, wide_product);
  for (auto* name : {"mm.dtype_out", "bmm.dtype_out"}) m.impl(name, wide_product_out);
  for (auto* name : {"addmm.dtype", "baddbmm.dtype"}) m.impl(name, wide_added_product);
  for (auto* name : {"addmm.dtype_out", "baddbmm.dtype_out"}) m.impl(name, wide_added_product_out);
  m.impl("_int_mm", integer_product);
  m.impl("_int_mm.out", integer_product_out);
  m.impl("addbmm", at::native::addbmm);
  m.impl("addbmm.out", at::native::addbmm_out);
  m.impl("addbmm_", at::native::addbmm_);
  m.impl("dot", dot);
  m.impl("vdot", vdot);
}

}  // namespace torch_xpu
