// Norms of vectors.
#include <ATen/ops/abs.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linalg_vector_norm_meta.h>
#include <ATen/ops/norm_meta.h>

#include <cmath>

#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::OptionalIntArrayRef;
using at::Scalar;
using at::Tensor;
using xpu::kernels::reduction;

const char* kind_of(double order) {
  if (order == 0) return "norm0";
  if (order == 1) return "norm1";
  if (order == 2) return "norm2";
  if (std::isinf(order)) return order > 0 ? "norm_inf" : "norm_neg_inf";
  return "norm";
}

constexpr auto vector_norm = [](auto& op, const Tensor& self, const Scalar& order, OptionalIntArrayRef dims,
                                auto&&...) {
  auto& out = op.output();
  auto p = order.toDouble();
  auto real = self.is_complex() ? at::abs(self) : self;
  auto& kind = reduction(kind_of(p));
  dims = all_if_empty(dims);
  auto compute = out.scalar_type();
  if (kind.expression().scalars)
    reduce(kind, {out}, {real}, dims, {p}, compute);
  else
    reduce(kind, {out}, {real}, dims, {}, compute);
};

// The older operator: no order means 2.
constexpr auto norm = [](auto& op, const Tensor& self, const std::optional<Scalar>& order, IntArrayRef dims,
                         bool keepdim, auto&&...) {
  auto out = op.output();
  at::linalg_vector_norm_out(out, self, order ? *order : Scalar(2), dims, keepdim, std::nullopt);
};
constexpr auto norm_as = [](auto& op, const Tensor& self, const std::optional<Scalar>& order,
                            IntArrayRef dims, bool keepdim, at::ScalarType dtype) {
  auto out = op.output();
  at::linalg_vector_norm_out(out, self, order ? *order : Scalar(2), dims, keepdim, dtype);
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_linalg_vector_norm, vector_norm>(m, "linalg_vector_norm",
                                                               "linalg_vector_norm.out");
  structured<meta::structured_norm_ScalarOpt_dim, norm>(m, "norm.ScalarOpt_dim", "norm.out");
  structured<meta::structured_norm_ScalarOpt_dim_dtype, norm_as>(m, "norm.ScalarOpt_dim_dtype",
                                                                 "norm.dtype_out");
}

}  // namespace torch_xpu
