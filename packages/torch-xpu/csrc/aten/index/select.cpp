// Choices and blends: where, clamp, lerp, addcmul and their like.
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/addcdiv_meta.h>
#include <ATen/ops/addcmul_meta.h>
#include <ATen/ops/clamp_max_meta.h>
#include <ATen/ops/clamp_meta.h>
#include <ATen/ops/clamp_min_meta.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/lerp_meta.h>
#include <ATen/ops/result_type.h>

#include <cmath>
#include <limits>

#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

using at::OptionalTensorRef;
using at::Scalar;
using at::Tensor;
using at::TensorIteratorBase;

Tensor& where_out(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  static const Pointwise kernel("where", {.real = {"a ? b : c"}, .unconverted_inputs = 1});
  auto guard = guard_for(condition, self, other, out);
  TORCH_CHECK(condition.scalar_type() == at::kBool || condition.scalar_type() == at::kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ",
              condition.scalar_type());
  auto type = at::result_type(self, other);
  TORCH_CHECK(out.scalar_type() == type, "where: expected an out tensor of ", type, ", got ",
              out.scalar_type());
  auto iter = at::TensorIteratorConfig()
                  .check_all_same_dtype(false)
                  .allow_cpu_scalars(true)
                  .add_output(out)
                  .add_const_input(condition)
                  .add_const_input(self)
                  .add_const_input(other)
                  .build();
  kernel(iter, {}, type);
  return out;
}

Tensor where_self(const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (self.scalar_type() == at::kFloat4_e2m1fn_x2 && other.scalar_type() == self.scalar_type())
    return where_self(condition, with_runtime_dtype(self), with_runtime_dtype(other))
        .view(self.scalar_type());
  auto device = condition.is_xpu() ? condition.device() : self.is_xpu() ? self.device() : other.device();
  auto out = at::empty({0}, self.options().dtype(at::result_type(self, other)).device(device));
  return where_out(condition, self, other, out);
}

void clamp(TensorIteratorBase& iter, const Tensor&, const std::optional<Scalar>& low,
           const std::optional<Scalar>& high) {
  static const Pointwise both("clamp", {.real = {"xpu::clamp(a, p, q)"}}),
      from_below("clamp_min", {.real = {"xpu::maximum(a, p)"}}),
      from_above("clamp_max", {.real = {"xpu::minimum(a, p)"}});
  auto nan = [](auto& s) { return s && s->isFloatingPoint() && std::isnan(s->toDouble()); };
  if (nan(low) || nan(high))
    iter.output().fill_(std::numeric_limits<double>::quiet_NaN());
  else if (low && high)
    both(iter, {*low, *high});
  else if (low)
    from_below(iter, *low);
  else
    from_above(iter, *high);
}

void clamp_tensor(TensorIteratorBase& iter, const Tensor&, const std::optional<Tensor>& low,
                  const std::optional<Tensor>& high) {
  static const Pointwise both("clamp", {.real = {"xpu::minimum(xpu::maximum(a, b), c)"}}),
      from_below("clamp_min", {.real = {"xpu::maximum(a, b)"}}),
      from_above("clamp_max", {.real = {"xpu::minimum(a, b)"}});
  bool has_low = low && low->defined(), has_high = high && high->defined();
  (has_low && has_high ? both : has_low ? from_below : from_above)(iter);
}

void lerp_scalar(TensorIteratorBase& iter, const Tensor&, const Tensor&, const Scalar& weight) {
  static const Pointwise kernel("lerp", {.real = {"xpu::lerp(a, b, p)"}});
  TORCH_CHECK_NOT_IMPLEMENTED(!at::isIntegralType(iter.common_dtype(), true),
                              "\"lerp\" not implemented for '", iter.common_dtype(), "'");
  kernel(iter, weight);
}

void addcmul(TensorIteratorBase& iter, const Tensor&, const Tensor&, const Tensor&, const Scalar& value) {
  static const Pointwise kernel("addcmul", {.real = {"a + p * b * c"}});
  kernel(iter, value);
}
void addcdiv(TensorIteratorBase& iter, const Tensor&, const Tensor&, const Tensor&, const Scalar& value) {
  static const Pointwise kernel("addcdiv", {.real = {"a + p * (b / c)"}});
  kernel(iter, value);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("where.self", where_self);
  m.impl("where.self_out", where_out);
  structured<at::meta::structured_clamp, clamp>(m, "clamp", "clamp.out", "clamp_");
  structured<at::meta::structured_clamp_Tensor, clamp_tensor>(m, "clamp.Tensor", "clamp.Tensor_out",
                                                              "clamp_.Tensor");
  structured<at::meta::structured_clamp_min, [](TensorIteratorBase& iter, const Tensor& self,
                                                const Scalar& low) { clamp(iter, self, low, {}); }>(
      m, "clamp_min", "clamp_min.out", "clamp_min_");
  structured<at::meta::structured_clamp_max, [](TensorIteratorBase& iter, const Tensor& self,
                                                const Scalar& high) { clamp(iter, self, {}, high); }>(
      m, "clamp_max", "clamp_max.out", "clamp_max_");
  POINTWISE_TENSOR_OUT(clamp_min, {.real = {"xpu::maximum(a, b)"}});
  POINTWISE_TENSOR_OUT(clamp_max, {.real = {"xpu::minimum(a, b)"}});

  structured<at::meta::structured_lerp_Scalar, lerp_scalar>(m, "lerp.Scalar", "lerp.Scalar_out",
                                                            "lerp_.Scalar");
  POINTWISE_TENSOR_OUT(lerp, {.real = {"xpu::lerp(a, b, c)"}});
  structured<at::meta::structured_addcmul, addcmul>(m, "addcmul", "addcmul.out", "addcmul_");
  structured<at::meta::structured_addcdiv, addcdiv>(m, "addcdiv", "addcdiv.out", "addcdiv_");
}

}  // namespace torch_xpu
