// Complex numbers: what makes them, and what is made of them.
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "ops/elementwise/pointwise_table.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

at::TensorIterator mixed(const Tensor& out, std::initializer_list<Tensor> inputs) {
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).add_output(out);
  for (auto& input : inputs) config.add_owned_const_input(input);
  return config.build();
}

// Complex halves are stored only; what is computed of them is computed of wider ones.
Tensor widened(const Tensor& self) {
  return self.scalar_type() == at::kComplexHalf ? self.to(at::kComplexFloat) : self;
}

// The result is real; computed as the operand is.
Tensor& abs_out(const Tensor& self_, Tensor& out) {
  static const Pointwise kernel("abs", {.real = {"xpu::abs(a)"}});
  auto guard = guard_for(self_, out);
  auto self = widened(self_);
  auto type = self_.is_complex() ? c10::toRealValueType(self_.scalar_type()) : self.scalar_type();
  TORCH_CHECK(at::canCast(type, out.scalar_type()), "result type ", type,
              " can't be cast to the desired output type ", out.scalar_type());
  auto iter = mixed(out, {self});
  kernel(iter, {}, self.scalar_type());
  return out;
}

at::ScalarType type_of_angle(const Tensor& self) {
  auto type = self.scalar_type();
  if (self.is_complex()) return c10::toRealValueType(type);
  return c10::isIntegralType(type, true) ? c10::typeMetaToScalarType(c10::get_default_dtype()) : type;
}

Tensor& angle_out(const Tensor& self_, Tensor& out) {
  static const Pointwise kernel("angle", {.real = {"a != a ? a : a < T(0) ? T(3.141592653589793) : T(0)"},
                                          .complex = {"xpu::angle(a)"}});
  auto guard = guard_for(self_, out);
  check_holds(out, type_of_angle(self_));
  auto self = widened(self_);
  auto iter = mixed(out, {self});
  kernel(iter, {}, self.is_complex() ? self.scalar_type() : out.scalar_type());
  return out;
}
Tensor angle(const Tensor& self) {
  auto out = at::empty_like(self, self.options().dtype(type_of_angle(self)));
  return angle_out(self, out);
}

Tensor& conj_physical_out(const Tensor& self, Tensor& out) {
  static const Pointwise kernel("conj", {.real = {"a"}, .complex = {"xpu::conj(a)"}});
  auto guard = guard_for(self, out);
  if (self.scalar_type() == at::kComplexHalf) {
    at::native::resize_output(out, self.sizes());
    return out.copy_(self.conj());
  }
  auto iter = at::TensorIterator::unary_op(out, self);
  kernel(iter);
  return out;
}
Tensor& conj_physical_(Tensor& self) {
  return self.is_complex() ? torch_xpu::conj_physical_out(self, self) : self;
}

at::ScalarType complex_of(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), "Expected object of scalar type ", a.scalar_type(),
              " but got scalar type ", b.scalar_type(), " for second argument");
  TORCH_CHECK(c10::isFloatingType(a.scalar_type()) && a.scalar_type() != at::kBFloat16,
              "Expected both inputs to be Half, Float or Double tensors but got ", a.scalar_type(), " and ",
              b.scalar_type());
  return c10::toComplexType(a.scalar_type());
}

template <const Pointwise& (*kernel)()>
Tensor& pair_out(const Tensor& a, const Tensor& b, Tensor& out) {
  auto guard = guard_for(a, b, out);
  auto type = complex_of(a, b);
  TORCH_CHECK(out.scalar_type() == type, "Expected object of scalar type ", type, " but got scalar type ",
              out.scalar_type(), " for argument 'out'");
  if (type == at::kComplexHalf) {
    auto wide = at::empty({0}, out.options().dtype(at::kComplexFloat));
    pair_out<kernel>(a.to(at::kFloat), b.to(at::kFloat), wide);
    at::native::resize_output(out, wide.sizes());
    return out.copy_(wide);
  }
  auto iter = mixed(out, {a, b});
  kernel()(iter, {}, type);
  return out;
}
const Pointwise& cartesian() {
  static const Pointwise kernel("complex", {.real = {"T(a, b)"}, .unconverted_inputs = 3});
  return kernel;
}
const Pointwise& polar() {
  static const Pointwise kernel(
      "polar",
      {.real = {"T(a * xpu::cos(b), a * xpu::sin(b))"}, .headers = {"trig"}, .unconverted_inputs = 3});
  return kernel;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("abs.out", abs_out);
  m.impl("angle", angle);
  m.impl("angle.out", angle_out);
  m.impl("conj_physical.out", conj_physical_out);
  m.impl("conj_physical_", conj_physical_);
  m.impl("complex.out", pair_out<cartesian>);
  m.impl("polar.out", pair_out<polar>);
}

}  // namespace torch_xpu
