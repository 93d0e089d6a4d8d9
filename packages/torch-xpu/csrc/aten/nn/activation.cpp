// Activation functions and their gradients.
#include <ATen/ops/elu_backward_meta.h>
#include <ATen/ops/elu_meta.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu_backward_meta.h>
#include <ATen/ops/gelu_meta.h>
#include <ATen/ops/hardshrink_backward_meta.h>
#include <ATen/ops/hardshrink_meta.h>
#include <ATen/ops/hardsigmoid_backward_meta.h>
#include <ATen/ops/hardsigmoid_meta.h>
#include <ATen/ops/leaky_relu_backward_meta.h>
#include <ATen/ops/leaky_relu_meta.h>
#include <ATen/ops/logit_backward_meta.h>
#include <ATen/ops/mish_meta.h>
#include <ATen/ops/sigmoid_backward_meta.h>
#include <ATen/ops/silu_backward_meta.h>
#include <ATen/ops/silu_meta.h>
#include <ATen/ops/softplus_backward_meta.h>
#include <ATen/ops/softplus_meta.h>
#include <ATen/ops/softshrink_backward_meta.h>
#include <ATen/ops/softshrink_meta.h>
#include <ATen/ops/tanh_backward_meta.h>
#include <ATen/ops/threshold_backward_meta.h>
#include <ATen/ops/threshold_meta.h>

#include "ops/elementwise/pointwise_table.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using at::TensorIterator;
using at::TensorIteratorBase;

// Operators without a meta function: an allocated result, or an out tensor that PyTorch resizes.
Tensor run(const Pointwise& kernel, std::initializer_list<Tensor> inputs, at::ArrayRef<Scalar> scalars = {},
           Tensor out = {}) {
  auto guard = guard_for(*inputs.begin());
  at::TensorIteratorConfig config;
  config.add_owned_output(out);
  for (auto& input : inputs) config.add_owned_const_input(input);
  auto iter = config.build();
  kernel(iter, scalars);
  return iter.output();
}

const Pointwise& relu_kernel() {
  static const Pointwise kernel(
      "relu", {.real = {"xpu::relu(a)"}, .integer = {"a > 0 ? a : T(0)"}, .headers = {"activation"}});
  return kernel;
}
Tensor relu(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  return run(relu_kernel(), {self});
}
Tensor& relu_(Tensor& self) {
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  run(relu_kernel(), {self}, {}, self);
  return self;
}

const Pointwise& hardswish_kernel() {
  static const Pointwise kernel("hardswish", {.real = {"xpu::hardswish(a)"}, .headers = {"activation"}});
  return kernel;
}
Tensor hardswish(const Tensor& self) {
  return run(hardswish_kernel(), {self});
}
Tensor& hardswish_out(const Tensor& self, Tensor& out) {
  run(hardswish_kernel(), {self}, {}, out);
  return out;
}
Tensor& hardswish_(Tensor& self) {
  return hardswish_out(self, self);
}
Tensor hardswish_backward(const Tensor& grad, const Tensor& self) {
  static const Pointwise kernel("hardswish_backward",
                                {.real = {"b <= T(-3) ? T(0) : b < T(3) ? a * (b / T(3) + T(0.5)) : a"}});
  return run(kernel, {grad, self});
}

Tensor& hardtanh_out(const Tensor& self, const Scalar& low, const Scalar& high, Tensor& out) {
  static const Pointwise kernel("hardtanh", {.real = {"a < p ? p : a > q ? q : a"}});
  TORCH_CHECK(self.scalar_type() != at::kBool, "Bool inputs not supported for hardtanh");
  TORCH_CHECK(self.scalar_type() != at::kByte || (low.toLong() >= 0 && high.toLong() >= 0),
              "cannot do hardtanh on an unsigned type with negative limits");
  run(kernel, {self}, {low, high}, out);
  return out;
}
Tensor hardtanh(const Tensor& self, const Scalar& low, const Scalar& high) {
  auto out = at::empty_like(self);
  return hardtanh_out(self, low, high, out);
}
Tensor& hardtanh_(Tensor& self, const Scalar& low, const Scalar& high) {
  return hardtanh_out(self, low, high, self);
}
Tensor& hardtanh_backward_out(const Tensor& grad, const Tensor& self, const Scalar& low, const Scalar& high,
                              Tensor& out) {
  static const Pointwise kernel("hardtanh_backward", {.real = {"b <= p || b >= q ? T(0) : a"}});
  run(kernel, {grad, self}, {low, high}, out);
  return out;
}
Tensor hardtanh_backward(const Tensor& grad, const Tensor& self, const Scalar& low, const Scalar& high) {
  auto out = at::empty_like(self);
  return hardtanh_backward_out(grad, self, low, high, out);
}

Tensor mish_backward(const Tensor& grad, const Tensor& self) {
  static const Pointwise kernel(
      "mish_backward",
      {.real = {"a * (t + b * s * (T(1) - t * t))"},
       .headers = {"exp", "hyperbolic"},
       .body = "T s = xpu::logistic(b); T t = xpu::tanh(b > T(20) ? b : xpu::log1p(xpu::exp(b)));"});
  return run(kernel, {grad, self});
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  static const Pointwise kernel("prelu", {.real = {"a > T(0) ? a : a * b"}});
  return run(kernel, {self, weight});
}
std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad, const Tensor& self, const Tensor& weight) {
  static const Pointwise kernel("prelu_backward",
                                {.real = {"b > T(0) ? a : a * c", "b > T(0) ? T(0) : a * b"}});
  auto guard = guard_for(grad);
  Tensor grad_self = at::empty_like(self), grad_weight = at::empty_like(self);
  auto iter = at::TensorIteratorConfig()
                  .add_output(grad_self)
                  .add_output(grad_weight)
                  .add_const_input(grad)
                  .add_const_input(self)
                  .add_const_input(weight)
                  .build();
  kernel(iter);
  return {grad_self, grad_weight};
}

void gelu(TensorIteratorBase& iter, const Tensor&, c10::string_view approximate) {
  static const Pointwise exact("gelu", {.real = {"xpu::gelu(a)"}, .headers = {"gelu"}}),
      tanh("gelu_tanh", {.real = {"xpu::gelu_tanh(a)"}, .headers = {"gelu"}});
  (approximate == "tanh" ? tanh : exact)(iter);
}
void gelu_backward(TensorIteratorBase& iter, const Tensor&, const Tensor&, c10::string_view approximate) {
  static const Pointwise exact("gelu_backward",
                               {.real = {"a * xpu::gelu_derivative(b)"}, .headers = {"gelu"}}),
      tanh("gelu_tanh_backward", {.real = {"a * xpu::gelu_tanh_derivative(b)"}, .headers = {"gelu"}});
  (approximate == "tanh" ? tanh : exact)(iter);
}

void elu_backward(TensorIteratorBase& iter, const Tensor&, const Scalar& alpha, const Scalar& scale,
                  const Scalar& input_scale, bool is_result, const Tensor&) {
  static const Pointwise of_input(
      "elu_backward", {.real = {"b <= T(0) ? a * p * q * r * xpu::exp(b * r) : a * q"}, .headers = {"exp"}}),
      of_result("elu_backward_of_result", {.real = {"b <= T(0) ? a * r * (b + p * q) : a * q"}});
  (is_result ? of_result : of_input)(iter, {alpha, scale, input_scale});
}

void logit_backward(TensorIteratorBase& iter, const Tensor&, const Tensor&, std::optional<double> eps) {
  static const Pointwise kernel(
      "logit_backward", {.real = {"b < T(0) || b > T(1) ? T(__builtin_nan(\"\")) : a / (b * (T(1) - b))"}}),
      clamped("logit_backward_clamped", {.real = {"b < p || b > q ? T(0) : a / (b * (T(1) - b))"}});
  if (eps && *eps >= 0)
    clamped(iter, {*eps, 1 - *eps});
  else
    kernel(iter);
}

Tensor& logit_out(const Tensor& self, std::optional<double> eps, Tensor& out) {
  static const Pointwise kernel("logit", {.real = {"xpu::logit(a)"}, .headers = {"exp"}}),
      clamped("logit_clamped", {.real = {"xpu::logit(a < p ? p : a > q ? q : a)"}, .headers = {"exp"}});
  auto guard = guard_for(self);
  auto iter = TensorIterator::unary_float_op(out, self);
  if (eps && *eps >= 0)
    clamped(iter, {*eps, 1 - *eps});
  else
    kernel(iter);
  out = iter.output();
  return out;
}
Tensor logit(const Tensor& self, std::optional<double> eps) {
  Tensor out;
  return logit_out(self, eps, out);
}
Tensor& logit_in_place(Tensor& self, std::optional<double> eps) {
  return logit_out(self, eps, self);
}

// What a line with numbers is: PyTorch's meta class, the numbers passed on, and an expression of them.
#define ACTIVATION(op, functional, out, inplace, scalars, ...)                         \
  structured<at::meta::structured_##op, [](TensorIteratorBase& iter, auto&&... args) { \
    static const Pointwise kernel(#op, __VA_ARGS__);                                   \
    kernel(iter, scalars(args...));                                                    \
  }>(m, functional, out, inplace)

// The numbers among an operator's arguments, in their order.
template <class... Args>
c10::SmallVector<Scalar, 4> numbers(const Args&... args) {
  c10::SmallVector<Scalar, 4> all;
  auto add = [&](auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Scalar>) all.push_back(argument);
  };
  (add(args), ...);
  return all;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("relu", relu);
  m.impl("relu_", relu_);
  m.impl("hardswish", hardswish);
  m.impl("hardswish.out", hardswish_out);
  m.impl("hardswish_", hardswish_);
  m.impl("hardswish_backward", hardswish_backward);
  m.impl("hardtanh", hardtanh);
  m.impl("hardtanh.out", hardtanh_out);
  m.impl("hardtanh_", hardtanh_);
  m.impl("hardtanh_backward", hardtanh_backward);
  m.impl("hardtanh_backward.grad_input", hardtanh_backward_out);
  m.impl("mish_backward", mish_backward);
  m.impl("_prelu_kernel", prelu);
  m.impl("_prelu_kernel_backward", prelu_backward);
  m.impl("logit", logit);
  m.impl("logit.out", logit_out);
  m.impl("logit_", logit_in_place);

  structured<at::meta::structured_gelu, gelu>(m, "gelu", "gelu.out", "gelu_");
  structured<at::meta::structured_gelu_backward, gelu_backward>(m, "gelu_backward",
                                                                "gelu_backward.grad_input");
  structured<at::meta::structured_elu_backward, elu_backward>(m, "elu_backward", "elu_backward.grad_input");
  structured<at::meta::structured_logit_backward, logit_backward>(m, "logit_backward",
                                                                  "logit_backward.grad_input");

  POINTWISE(silu,
            {.real = {"xpu::silu(a)"}, .complex = {"a / (T(1) + xpu::exp(-a))"}, .headers = {"activation"}});
  POINTWISE(mish, {.real = {"xpu::mish(a)"}, .headers = {"activation"}});
  POINTWISE(hardsigmoid, {.real = {"xpu::hardsigmoid(a)"}, .headers = {"activation"}});
  ACTIVATION(elu, "elu", "elu.out", "elu_", numbers,
             {.real = {"a > T(0) ? a * q : xpu::expm1(a * r) * p * q"}, .headers = {"exp"}});
  ACTIVATION(leaky_relu, "leaky_relu", "leaky_relu.out", "leaky_relu_", numbers,
             {.real = {"a > T(0) ? a : a * p"}});
  ACTIVATION(softplus, "softplus", "softplus.out", nullptr, numbers,
             {.real = {"xpu::softplus(a, p, q)"}, .headers = {"activation"}});
  ACTIVATION(hardshrink, "hardshrink", "hardshrink.out", nullptr, numbers,
             {.real = {"xpu::hardshrink(a, p)"}, .headers = {"activation"}});
  ACTIVATION(softshrink, "softshrink", "softshrink.out", nullptr, numbers,
             {.real = {"xpu::softshrink(a, p)"}, .headers = {"activation"}});
  // Both also as gradients of each other: a is compared, b is passed on.
  ACTIVATION(threshold, "threshold", "threshold.out", "threshold_", numbers, {.real = {"a <= p ? q : b"}});
  ACTIVATION(threshold_backward, "threshold_backward", "threshold_backward.grad_input", nullptr, numbers,
             {.real = {"a <= p ? T(0) : b"}});

  ACTIVATION(sigmoid_backward, "sigmoid_backward", "sigmoid_backward.grad_input", nullptr, numbers,
             {.real = {"a * (T(1) - b) * b"}, .complex = {"a * xpu::conj((T(1) - b) * b)"}});
  ACTIVATION(tanh_backward, "tanh_backward", "tanh_backward.grad_input", nullptr, numbers,
             {.real = {"a * (T(1) - b * b)"}, .complex = {"a * xpu::conj(T(1) - b * b)"}});
  ACTIVATION(
      silu_backward, "silu_backward", "silu_backward.grad_input", nullptr, numbers,
      {.real = {"a * s * (T(1) + b * (T(1) - s))"}, .headers = {"exp"}, .body = "T s = xpu::logistic(b);"});
  ACTIVATION(hardsigmoid_backward, "hardsigmoid_backward", "hardsigmoid_backward.grad_input", nullptr,
             numbers, {.real = {"b > T(-3) && b < T(3) ? a / T(6) : T(0)"}});
  ACTIVATION(leaky_relu_backward, "leaky_relu_backward", "leaky_relu_backward.grad_input", nullptr, numbers,
             {.real = {"a > T(0) ? b : b * p"}});
  ACTIVATION(softplus_backward, "softplus_backward", "softplus_backward.grad_input", nullptr, numbers,
             {.real = {"b * p > q ? a : a * xpu::logistic(b * p)"}, .headers = {"exp"}});
  ACTIVATION(hardshrink_backward, "hardshrink_backward", "hardshrink_backward.grad_input", nullptr, numbers,
             {.real = {"b >= -p && b <= p ? T(0) : a"}});
  ACTIVATION(softshrink_backward, "softshrink_backward", "softshrink_backward.grad_input", nullptr, numbers,
             {.real = {"b >= -p && b <= p ? T(0) : a"}});
}

}  // namespace torch_xpu
