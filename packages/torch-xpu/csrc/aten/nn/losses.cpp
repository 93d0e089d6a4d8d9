// Losses of one element each, and the logarithm of the sigmoid.
#include <ATen/ExpandUtils.h>
#include <ATen/core/Reduction.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mse_loss_meta.h>
#include <ATen/ops/promote_types.h>
#include <ATen/ops/smooth_l1_loss_meta.h>

#include "ops/assertion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/pointwise.h"
#include "ops/reduce.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;
using xpu::kernels::Expression;
using MaybeTensor = const std::optional<Tensor>&;
using Scalars = std::initializer_list<at::Scalar>;

// A loss of the input a0 and the target a1, and what follows them: each element's, or their sum or mean in
// one pass.
class Loss {
 public:
  explicit Loss(Expression e)
      : each_(e), sum_(reduction(e, "_sum", "s0")), mean_(reduction(e, "_mean", "s0 / (T)count")) {}

  void operator()(const Tensor& out, at::ArrayRef<Tensor> inputs, std::int64_t how, Scalars scalars) const {
    auto compute = out.scalar_type();
    if (how == at::Reduction::None) return elementwise(each_, {out}, inputs, scalars, compute);
    auto& kernel = how == at::Reduction::Mean ? mean_ : sum_;
    at::DimVector shape(inputs[0].sizes());
    for (auto& t : inputs) shape = at::infer_size_dimvector(shape, t.sizes());
    auto first = inputs[0].expand(shape);
    if (inputs.size() == 2)
      reduce(kernel, {out}, {first, inputs[1]}, std::nullopt, scalars, compute);
    else
      reduce(kernel, {out}, {first, inputs[1], inputs[2]}, std::nullopt, scalars, compute);
  }

 private:
  static xpu::kernels::ReductionExpression reduction(const Expression& e, const char* suffix,
                                                     const char* end) {
    return {.name = e.name + suffix,
            .accumulators = {{"T", "0"}},
            .combine = "s0 += r0;",
            .outputs = {end},
            .update = e.body + " s0 += " + e.outputs[0] + ";",
            .inputs = e.inputs,
            .scalars = e.scalars,
            .headers = e.headers};
  }
  Elementwise each_;
  xpu::kernels::Reduction sum_, mean_;
};

const Loss& mse() {
  static const auto& loss =
      *new Loss({.name = "mse_loss", .outputs = {"d * d"}, .inputs = 2, .body = "T d = a0 - a1;"});
  return loss;
}
const Loss& smooth_l1() {
  static const auto& loss = *new Loss({.name = "smooth_l1_loss",
                                       .outputs = {"d < p0 ? (T)0.5 * d * d / p0 : d - (T)0.5 * p0"},
                                       .inputs = 2,
                                       .scalars = 1,
                                       .body = "T d = xpu::abs(a0 - a1);"});
  return loss;
}
const Loss& huber() {
  static const auto& loss = *new Loss({.name = "huber_loss",
                                       .outputs = {"d < p0 ? (T)0.5 * d * d : p0 * (d - (T)0.5 * p0)"},
                                       .inputs = 2,
                                       .scalars = 1,
                                       .body = "T d = xpu::abs(a0 - a1);"});
  return loss;
}
// Logarithms are held above -100.
constexpr const char* cross_entropy_body =
    "T yes = xpu::max_of(xpu::log(a0), (T)-100), no = xpu::max_of(xpu::log1p(-a0), (T)-100);";
const Loss& cross_entropy(bool weighted) {
  static const auto make = [](const char* name, int inputs, const char* text) {
    return new Loss({.name = name,
                     .outputs = {text},
                     .inputs = inputs,
                     .body = cross_entropy_body,
                     .headers = {"math", "exp"}});
  };
  static const Loss *plain = make("binary_cross_entropy", 2, "(a1 - (T)1) * no - a1 * yes"),
                    *by_weight = make("binary_cross_entropy_weight", 3, "((a1 - (T)1) * no - a1 * yes) * a2");
  return weighted ? *by_weight : *plain;
}

constexpr auto mse_kernel = [](auto& op, const Tensor& self, const Tensor& target, std::int64_t how) {
  mse()(op.output(), {self, target}, how, {});
};
constexpr auto smooth_l1_kernel = [](auto& op, const Tensor& self, const Tensor& target, std::int64_t how,
                                     double beta) {
  smooth_l1()(op.output(), {self, target}, how, {beta});
};

at::DimVector result_shape(const Tensor& self, const Tensor& target, std::int64_t how) {
  return how == at::Reduction::None ? at::infer_size_dimvector(self.sizes(), target.sizes())
                                    : at::DimVector{};
}

Tensor& huber_out(const Tensor& self, const Tensor& target, std::int64_t how, double delta, Tensor& out) {
  auto guard = guard_for(self, target);
  check_one_device(self, target, out);
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  at::native::resize_output(out, result_shape(self, target, how));
  huber()(out, {self, target}, how, {delta});
  return out;
}
Tensor huber_loss(const Tensor& self, const Tensor& target, std::int64_t how, double delta) {
  auto guard = guard_for(self, target);
  auto out =
      at::empty({0}, self.options().dtype(at::promote_types(self.scalar_type(), target.scalar_type())));
  return huber_out(self, target, how, delta, out);
}

Tensor& cross_entropy_out(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t how,
                          Tensor& out) {
  auto guard = guard_for(self, target);
  check_one_device(self, target, weight, out);
  TORCH_CHECK(self.sizes() == target.sizes(), "binary_cross_entropy: the input is ", self.sizes(),
              " and the target ", target.sizes());
  at::native::resize_output(out, result_shape(self, target, how));
  assert_probabilities("binary_cross_entropy",
                       "all elements of input should be between 0 and 1; number {a} is not", self);
  assert_probabilities("binary_cross_entropy",
                       "all elements of target should be between 0 and 1; number {a} is not", target);
  if (given(weight))
    cross_entropy(true)(out, {self, target, *weight}, how, {});
  else
    cross_entropy(false)(out, {self, target}, how, {});
  return out;
}
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t how) {
  auto guard = guard_for(self, target);
  auto out = at::empty({0}, self.options());
  return cross_entropy_out(self, target, weight, how, out);
}

// Of the gradient a0, the input a1 and the target a2. p0 is 1, or 1 / n for a mean; p1 the loss's parameter.
Tensor& backward(const Elementwise& kernel, Tensor& out, const Tensor& grad, const Tensor& self,
                 const Tensor& target, MaybeTensor weight, std::int64_t how, double parameter) {
  auto guard = guard_for(grad, self, target);
  check_one_device(grad, self, target, out);
  auto shape = at::infer_size_dimvector(self.sizes(), target.sizes());
  at::native::resize_output(out, shape);
  double share = how == at::Reduction::Mean ? 1 / static_cast<double>(c10::multiply_integers(shape)) : 1;
  if (given(weight))
    elementwise(kernel, {out}, {grad, self, target, *weight}, {share, parameter}, out.scalar_type());
  else
    elementwise(kernel, {out}, {grad, self, target}, {share, parameter}, out.scalar_type());
  return out;
}
const Elementwise& derivative(const char* name, const char* text, const char* body, int inputs = 3) {
  return *new Elementwise({.name = name, .outputs = {text}, .inputs = inputs, .scalars = 2, .body = body});
}

Tensor& mse_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t how,
                         Tensor& out) {
  static const auto& kernel = derivative("mse_loss_backward", "a0 * (a1 - a2) * ((T)2 * p0)", "");
  return backward(kernel, out, grad, self, target, {}, how, 0);
}
Tensor mse_backward(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t how) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return mse_backward_out(grad, self, target, how, out);
}
Tensor& smooth_l1_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t how,
                               double beta, Tensor& out) {
  static const auto& kernel = derivative(
      "smooth_l1_loss_backward", "a0 * p0 * (xpu::abs(d) < p1 ? d / p1 : xpu::sign(d))", "T d = a1 - a2;");
  return backward(kernel, out, grad, self, target, {}, how, beta);
}
Tensor& huber_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t how,
                           double delta, Tensor& out) {
  static const auto& kernel = derivative(
      "huber_loss_backward", "a0 * p0 * (xpu::abs(d) < p1 ? d : p1 * xpu::sign(d))", "T d = a1 - a2;");
  return backward(kernel, out, grad, self, target, {}, how, delta);
}
Tensor& cross_entropy_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target,
                                   MaybeTensor weight, std::int64_t how, Tensor& out) {
  constexpr const char* body = "T g = a0 * p0 * (a1 - a2) / xpu::max_of(((T)1 - a1) * a1, (T)1e-12f);";
  static const auto& plain = derivative("binary_cross_entropy_backward", "g", body);
  static const auto& weighted = derivative("binary_cross_entropy_weight_backward", "g * a3", body, 4);
  return backward(given(weight) ? weighted : plain, out, grad, self, target, weight, how, 0);
}
Tensor cross_entropy_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                              MaybeTensor weight, std::int64_t how) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return cross_entropy_backward_out(grad, self, target, weight, how, out);
}

// The buffer is what the CPU keeps between the passes: here there is none.
std::tuple<Tensor&, Tensor&> log_sigmoid_out(const Tensor& self, Tensor& out, Tensor& buffer) {
  static const auto& kernel = *new Elementwise(
      {.name = "log_sigmoid", .outputs = {"xpu::log_sigmoid(a0)"}, .headers = {"math", "exp"}});
  auto guard = guard_for(self);
  check_one_device(self, out);
  check_type(out, self.scalar_type());
  at::native::resize_output(out, self.sizes());
  elementwise(kernel, {out}, {self});
  return {out, buffer};
}
std::tuple<Tensor, Tensor> log_sigmoid(const Tensor& self) {
  auto guard = guard_for(self);
  auto out = at::empty_like(self), buffer = at::empty({0}, self.options());
  log_sigmoid_out(self, out, buffer);
  return {out, buffer};
}
Tensor& log_sigmoid_backward_out(const Tensor& grad, const Tensor& self, const Tensor&, Tensor& out) {
  static const auto& kernel =
      *new Elementwise({.name = "log_sigmoid_backward",
                        .outputs = {"a0 * (a1 < (T)0 ? (T)1 - z : z)"},
                        .inputs = 2,
                        .body = "T e = xpu::exp(-xpu::abs(a1)); T z = e / ((T)1 + e);",
                        .headers = {"math", "exp"}});
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, out);
  at::native::resize_output(out, self.sizes());
  elementwise(kernel, {out}, {grad, self});
  return out;
}
Tensor log_sigmoid_backward(const Tensor& grad, const Tensor& self, const Tensor& buffer) {
  auto guard = guard_for(grad);
  auto out = at::empty_like(grad);
  return log_sigmoid_backward_out(grad, self, buffer, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_mse_loss, mse_kernel>(m, "mse_loss", "mse_loss.out");
  structured<at::meta::structured_smooth_l1_loss, smooth_l1_kernel>(m, "smooth_l1_loss",
                                                                    "smooth_l1_loss.out");
  m.impl("huber_loss", huber_loss);
  m.impl("huber_loss.out", huber_out);
  m.impl("binary_cross_entropy", binary_cross_entropy);
  m.impl("binary_cross_entropy.out", cross_entropy_out);
  m.impl("mse_loss_backward", mse_backward);
  m.impl("mse_loss_backward.grad_input", mse_backward_out);
  m.impl("smooth_l1_loss_backward.grad_input", smooth_l1_backward_out);
  m.impl("huber_loss_backward.out", huber_backward_out);
  m.impl("binary_cross_entropy_backward", cross_entropy_backward);
  m.impl("binary_cross_entropy_backward.grad_input", cross_entropy_backward_out);
  m.impl("log_sigmoid_forward", log_sigmoid);
  m.impl("log_sigmoid_forward.output", log_sigmoid_out);
  m.impl("log_sigmoid_backward", log_sigmoid_backward);
  m.impl("log_sigmoid_backward.grad_input", log_sigmoid_backward_out);
}

}  // namespace torch_xpu
