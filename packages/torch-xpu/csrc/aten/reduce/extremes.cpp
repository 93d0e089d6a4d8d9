// Largest and smallest elements, and where they are.
#include <ATen/native/Resize.h>
#include <ATen/ops/amax_meta.h>
#include <ATen/ops/amin_meta.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/aminmax_meta.h>
#include <ATen/ops/argmax_meta.h>
#include <ATen/ops/argmin_meta.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_meta.h>
#include <ATen/ops/min_meta.h>

#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using xpu::kernels::Reduction;
using xpu::kernels::reduction;

template <const char* name>
constexpr auto over_dims = [](auto& op, const Tensor& self, IntArrayRef dims, bool) {
  reduce(reduction(name), {op.output()}, {self}, all_if_empty(dims));
};
template <const char* name>
constexpr auto place = [](auto& op, const Tensor& self, std::optional<std::int64_t> dim, bool) {
  if (dim)
    reduce(reduction(name), {op.output()}, {self}, IntArrayRef(*dim));
  else
    reduce(reduction(name), {op.output()}, {self}, std::nullopt);
};
template <const char* name>
constexpr auto value_and_place = [](auto& op, const Tensor& self, std::int64_t dim, bool) {
  if (self.numel() > 0) reduce(reduction(name), {op.output(0), op.output(1)}, {self}, IntArrayRef(dim));
};
constexpr auto aminmax_kernel = [](auto& op, const Tensor& self, std::optional<std::int64_t> dim, bool) {
  static const auto& both =
      *new Reduction({.name = "aminmax",
                      .accumulators = {{"T", "highest<T>()"}, {"T", "lowest<T>()"}},
                      .map = {"a0", "a0"},
                      .combine = "s0 = xpu::minimum(s0, r0); s1 = xpu::maximum(s1, r1);",
                      .outputs = {"s0", "s1"},
                      .headers = {"math", "integer", "limits"}});
  auto dims = dim ? at::OptionalIntArrayRef(*dim) : std::nullopt;
  reduce(both, {op.output(0), op.output(1)}, {self}, dims);
};

constexpr char max[] = "max", min[] = "min", argmax[] = "argmax", argmin[] = "argmin",
               max_with_index[] = "max_with_index", min_with_index[] = "min_with_index";

template <const char* name>
Tensor& extreme_out(const Tensor& self, Tensor& out) {
  auto guard = guard_for(self, out);
  check_one_device(self, out);
  TORCH_CHECK(self.numel() > 0, name,
              "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
              "with the 'dim' argument.");
  TORCH_CHECK(!self.is_complex(), name, "(): \"", name, "\" not implemented for '", self.scalar_type(), "'");
  TORCH_CHECK(at::canCast(self.scalar_type(), out.scalar_type()), "Expected out tensor to have dtype ",
              self.scalar_type(), ", but got ", out.scalar_type(), " instead");
  at::native::resize_output(out, {});
  if (self.scalar_type() != out.scalar_type()) {
    auto found = at::empty({}, self.options());
    return out.copy_(extreme_out<name>(self, found));
  }
  reduce(reduction(name), {out}, {self}, std::nullopt);
  return out;
}
template <const char* name>
Tensor extreme(const Tensor& self) {
  auto guard = guard_for(self);
  auto out = at::empty({}, self.options());
  return extreme_out<name>(self, out);
}

std::tuple<Tensor, Tensor> aminmax_of_all(const Tensor& self) {
  return at::aminmax(self);
}
std::tuple<Tensor, Tensor> aminmax_along(const Tensor& self, std::int64_t dim, bool keepdim) {
  return at::aminmax(self, dim, keepdim);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_amax, over_dims<max>>(m, "amax", "amax.out");
  structured<meta::structured_amin, over_dims<min>>(m, "amin", "amin.out");
  structured<meta::structured_argmax, place<argmax>>(m, "argmax", "argmax.out");
  structured<meta::structured_argmin, place<argmin>>(m, "argmin", "argmin.out");
  structured<meta::structured_max_dim, value_and_place<max_with_index>, 2>(m, "max.dim", "max.dim_max");
  structured<meta::structured_min_dim, value_and_place<min_with_index>, 2>(m, "min.dim", "min.dim_min");
  structured<meta::structured_aminmax, aminmax_kernel, 2>(m, "aminmax", "aminmax.out");
  m.impl("max", extreme<max>);
  m.impl("max.unary_out", extreme_out<max>);
  m.impl("min", extreme<min>);
  m.impl("min.unary_out", extreme_out<min>);
  m.impl("_aminmax", aminmax_of_all);
  m.impl("_aminmax.dim", aminmax_along);
}

}  // namespace torch_xpu
