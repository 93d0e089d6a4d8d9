// Sums, products, and whether elements are true.
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/all_meta.h>
#include <ATen/ops/any_meta.h>
#include <ATen/ops/diagonal.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean_meta.h>
#include <ATen/ops/prod_meta.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/sum_meta.h>

#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::OptionalIntArrayRef;
using at::ScalarType;
using at::Tensor;
using xpu::kernels::Reduction;

// Sums and products are computed in the result's dtype.
void arithmetic(const char* name, const Tensor& out, const Tensor& self, OptionalIntArrayRef dims) {
  reduce(xpu::kernels::reduction(name), {out}, {self}, dims, {}, out.scalar_type());
}

Reduction& truth(const char* name, const char* identity, const char* combine, const char* map) {
  return *new Reduction({.name = name,
                         .accumulators = {{"u32", identity}},
                         .map = {map},
                         .combine = combine,
                         .outputs = {"s0 != 0"}});
}
constexpr const char* is_true = "a0 != (T)0 ? 1u : 0u";
const Reduction& any() {
  static const auto& one = truth("any_true", "0", "s0 |= r0;", is_true);
  return one;
}
const Reduction& all() {
  static const auto& one = truth("all_true", "1", "s0 &= r0;", is_true);
  return one;
}

constexpr auto sum_kernel = [](auto& op, const Tensor& self, OptionalIntArrayRef dims, auto&&...) {
  arithmetic("sum", op.output(), self, all_if_empty(dims));
};
constexpr auto mean_kernel = [](auto& op, const Tensor& self, OptionalIntArrayRef dims, auto&&...) {
  arithmetic("mean", op.output(), self, all_if_empty(dims));
};
constexpr auto prod_kernel = [](auto& op, const Tensor& self, std::int64_t dim, auto&&...) {
  arithmetic("prod", op.output(), self, at::IntArrayRef(dim));
};
template <const Reduction& (*which)()>
constexpr auto truth_of_all =
    [](auto& op, const Tensor& self) { reduce(which(), {op.output()}, {self}, std::nullopt); };
template <const Reduction& (*which)()>
constexpr auto truth_along = [](auto& op, const Tensor& self, std::int64_t dim, bool) {
  reduce(which(), {op.output()}, {self}, at::IntArrayRef(dim));
};
template <const Reduction& (*which)()>
constexpr auto truth_along_dims = [](auto& op, const Tensor& self, OptionalIntArrayRef dims, bool) {
  reduce(which(), {op.output()}, {self}, dims);
};

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  auto guard = guard_for(self);
  auto out = at::empty({}, self.options().dtype(at::native::get_dtype_from_self(self, dtype, true)));
  arithmetic("prod", out, self, std::nullopt);
  return out;
}

Tensor& nansum_out(const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  if (at::isIntegralType(self.scalar_type(), true)) return at::sum_out(out, self, dims, keepdim, dtype);
  auto guard = guard_for(self, out);
  check_one_device(self, out);
  auto type = at::native::get_dtype_from_result(out, dtype);
  TORCH_CHECK(out.scalar_type() == type, "Expected out tensor to have dtype ", type, ", but got ",
              out.scalar_type(), " instead");
  auto fresh = empty_reduced(self, all_if_empty(dims), keepdim, type);
  at::native::resize_output(out, fresh.sizes());
  arithmetic("nansum", out, self, all_if_empty(dims));
  return out;
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  auto guard = guard_for(self);
  auto out =
      empty_reduced(self, all_if_empty(dims), keepdim, at::native::get_dtype_from_self(self, dtype, true));
  return nansum_out(self, dims, keepdim, dtype, out);
}

Tensor count_nonzero(const Tensor& self, at::IntArrayRef dims) {
  static const auto& count = *new Reduction({.name = "count_nonzero_i64",
                                             .accumulators = {{"i64", "0"}},
                                             .map = {"a0 != (T)0 ? 1 : 0"},
                                             .combine = "s0 += r0;",
                                             .outputs = {"s0"}});
  auto guard = guard_for(self);
  auto out = empty_reduced(self, all_if_empty(dims), false, at::kLong);
  reduce(count, {out}, {self}, all_if_empty(dims));
  return out;
}

Tensor trace(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return self.diagonal().sum();
}

bool equal(const Tensor& self, const Tensor& other) {
  static const auto& same = *new Reduction({.name = "equal",
                                            .accumulators = {{"u32", "1"}},
                                            .map = {"a0 == a1 ? 1u : 0u"},
                                            .combine = "s0 &= r0;",
                                            .outputs = {"s0 != 0"},
                                            .inputs = 2});
  auto guard = guard_for(self, other);
  check_one_device(self, other);
  if (!self.is_same_size(other)) return false;
  if (self.numel() == 0) return true;
  if (self.scalar_type() != other.scalar_type()) {
    auto common = c10::promoteTypes(self.scalar_type(), other.scalar_type());
    return equal(self.to(common), other.to(common));
  }
  auto out = at::empty({}, self.options().dtype(at::kBool));
  reduce(same, {out}, {self, other}, std::nullopt);
  return out.item<bool>();
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_sum_dim_IntList, sum_kernel>(m, "sum.dim_IntList", "sum.IntList_out");
  structured<meta::structured_mean_dim, mean_kernel>(m, "mean.dim", "mean.out");
  structured<meta::structured_prod_dim_int, prod_kernel>(m, "prod.dim_int", "prod.int_out");
  structured<meta::structured_any, truth_of_all<any>>(m, "any", "any.all_out");
  structured<meta::structured_any_dim, truth_along<any>>(m, "any.dim", "any.out");
  structured<meta::structured_any_dims, truth_along_dims<any>>(m, "any.dims", "any.dims_out");
  structured<meta::structured_all, truth_of_all<all>>(m, "all", "all.all_out");
  structured<meta::structured_all_dim, truth_along<all>>(m, "all.dim", "all.out");
  structured<meta::structured_all_dims, truth_along_dims<all>>(m, "all.dims", "all.dims_out");
  m.impl("prod", prod);
  m.impl("nansum", nansum);
  m.impl("nansum.out", nansum_out);
  m.impl("count_nonzero.dim_IntList", count_nonzero);
  m.impl("trace", trace);
  m.impl("equal", equal);
}

}  // namespace torch_xpu
