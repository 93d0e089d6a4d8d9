// Fused optimizer steps, one launch a parameter, and the scaling of gradients.
#include <ATen/ops/empty.h>
#include <ATen/ops/maximum.h>
#include <torch/library.h>

#include <cmath>
#include <map>
#include <mutex>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/elementwise/pointwise.h"
#include "ops/tensor.h"
#include "xpu/kernels/reduce.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::TensorList;
using xpu::kernels::Elementwise;

// The forms of one optimizer, made when they are first asked for.
class Forms {
 public:
  template <class Make>
  const Elementwise& of(unsigned flags, Make&& make) {
    std::lock_guard lock(mutex_);
    auto& form = made_[flags];
    if (!form) form = std::make_unique<Elementwise>(make());
    return *form;
  }

 private:
  std::mutex mutex_;
  std::map<unsigned, std::unique_ptr<Elementwise>> made_;
};

// Where `found_inf` says that gradients overflowed, everything stays as it is: inputs before it are the old
// values of the outputs, in their order.
xpu::kernels::Expression step(const char* name, int outputs, int inputs, int scalars, std::string body,
                              bool stoppable) {
  xpu::kernels::Expression e;
  e.name = name;
  e.inputs = inputs + stoppable;
  e.scalars = scalars;
  e.headers = {"math", "exp"};
  e.body = std::move(body);
  for (int k = 0; k < outputs; ++k) {
    auto is = std::to_string(k), result = "o" + is;
    e.outputs.push_back(stoppable ? "a" + std::to_string(inputs) + " != T(0) ? a" + is + " : " + result
                                  : result);
  }
  return e;
}

class Step {
 public:
  Step(const Elementwise& kernel, std::vector<xpu::Scalar> scalars, const std::optional<Tensor>& found_inf)
      : kernel_(kernel), scalars_(std::move(scalars)), found_inf_(found_inf) {}

  /// `state` is read and written; `rest` is read.
  void operator()(std::initializer_list<Tensor> state, std::initializer_list<Tensor> rest) const {
    auto& first = *state.begin();
    if (first.numel() == 0) return;
    c10::SmallVector<xpu::Tensor, 12> outputs, inputs;
    for (auto& t : state) outputs.push_back(view_of(t));
    inputs = outputs;
    for (auto& t : rest) inputs.push_back(view_of(t));
    if (found_inf_ && found_inf_->defined()) inputs.push_back(view_of(*found_inf_));
    auto compute = first.scalar_type() == at::kDouble ? xpu::DType::f64 : xpu::DType::f32;
    translate_errors([&] {
      kernel_(stream_of(first), {outputs.data(), outputs.size()}, {inputs.data(), inputs.size()}, scalars_,
              compute);
    });
  }

 private:
  const Elementwise& kernel_;
  std::vector<xpu::Scalar> scalars_;
  const std::optional<Tensor>& found_inf_;
};

void unscale(TensorList grads, const Tensor& scale) {
  static const Pointwise kernel("unscale", {.real = {"a / b"}});
  for (auto& grad : grads) {
    auto iter = at::TensorIteratorConfig()
                    .check_all_same_dtype(false)
                    .add_output(grad)
                    .add_const_input(grad)
                    .add_const_input(scale)
                    .build();
    kernel(iter, {}, at::kFloat);
  }
}

double number(double value) {
  return value;
}
double number(const Tensor& value) {
  return value.item<double>();
}

// 1 - beta^step is -expm1(step log(beta)), which keeps its digits when beta is near 1.
template <bool decoupled, class Rate>
void adam(TensorList params, TensorList grads, TensorList means, TensorList squares, TensorList largest,
          TensorList steps, Rate rate, double beta1, double beta2, double decay, double eps, bool amsgrad,
          bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  static auto& forms = *new Forms;
  if (params.empty()) return;
  auto guard = guard_for(params);
  if (grad_scale && grad_scale->defined()) unscale(grads, *grad_scale);
  double lr = number(rate);
  bool stoppable = found_inf && found_inf->defined();
  auto& kernel = forms.of(maximize | amsgrad << 1 | stoppable << 2, [&] {
    int state = amsgrad ? 4 : 3;
    std::string grad = "a" + std::to_string(state), count = "a" + std::to_string(state + 1);
    std::string body = "T g = " + std::string(maximize ? "-" : "") + grad +
                       " + p2 * a0; T o1 = a1 + (g - a1) * p4; T o2 = a2 + (g * g - a2) * p5;"
                       "T c1 = -xpu::expm1(" +
                       count + " * p6), c2 = -xpu::expm1(" + count + " * p7);";
    body += amsgrad ? "T o3 = xpu::maximum(a3, o2); T s = o3;" : "T s = o2;";
    body += "T o0 = a0 * p1 - p0 / c1 * o1 / (xpu::sqrt(s) / xpu::sqrt(c2) + p3);";
    return step(decoupled ? "adamw" : "adam", state, state + 2, 8, body, stoppable);
  });
  Step run(kernel,
           {lr, decoupled ? 1 - lr * decay : 1.0, decoupled ? 0.0 : decay, eps, 1 - beta1, 1 - beta2,
            std::log(beta1), std::log(beta2)},
           found_inf);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (amsgrad)
      run({params[i], means[i], squares[i], largest[i]}, {grads[i], steps[i]});
    else
      run({params[i], means[i], squares[i]}, {grads[i], steps[i]});
}

template <class Rate>
void sgd(TensorList params, TensorList grads, TensorList buffers, double decay, double momentum, Rate rate,
         double dampening, bool nesterov, bool maximize, bool first_step,
         const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  static auto& forms = *new Forms;
  if (params.empty()) return;
  auto guard = guard_for(params);
  if (grad_scale && grad_scale->defined()) unscale(grads, *grad_scale);
  bool stoppable = found_inf && found_inf->defined(), has_buffer = !buffers.empty();
  auto& kernel = forms.of(maximize | has_buffer << 1 | nesterov << 2 | first_step << 3 | stoppable << 4, [&] {
    std::string body =
        "T g = " + std::string(maximize ? "-" : "") + (has_buffer ? "a2" : "a1") + " + p1 * a0;";
    if (has_buffer) {
      body += first_step ? "T o1 = g;" : "T o1 = a1 * p2 + g * p3;";
      body += nesterov ? "g = g + p2 * o1;" : "g = o1;";
    }
    return step("sgd", has_buffer ? 2 : 1, has_buffer ? 3 : 2, 4, body + "T o0 = a0 - p0 * g;", stoppable);
  });
  Step run(kernel, {number(rate), decay, momentum, 1 - dampening}, found_inf);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (has_buffer)
      run({params[i], buffers[i]}, {grads[i]});
    else
      run({params[i]}, {grads[i]});
}

template <class Rate>
void adagrad(TensorList params, TensorList grads, TensorList sums, TensorList steps, Rate rate,
             double rate_decay, double decay, double eps, bool maximize,
             const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  static auto& forms = *new Forms;
  if (params.empty()) return;
  auto guard = guard_for(params);
  if (grad_scale && grad_scale->defined()) unscale(grads, *grad_scale);
  bool stoppable = found_inf && found_inf->defined();
  auto& kernel = forms.of(maximize | stoppable << 1, [&] {
    std::string body = "T g = " + std::string(maximize ? "-" : "") +
                       "a2 + p2 * a0; T o1 = a1 + g * g;"
                       "T o0 = a0 - p0 / (T(1) + (a3 - T(1)) * p1) * g / (xpu::sqrt(o1) + p3);";
    return step("adagrad", 2, 4, 4, body, stoppable);
  });
  Step run(kernel, {number(rate), rate_decay, decay, eps}, found_inf);
  for (std::size_t i = 0; i < params.size(); ++i) run({params[i], sums[i]}, {grads[i], steps[i]});
}

void check_and_unscale(TensorList grads, Tensor& found_inf, const Tensor& inverse_scale) {
  static const auto& any = *new xpu::kernels::Reduction({.name = "any_not_finite",
                                                         .accumulators = {{"bool", "false"}},
                                                         .map = {"!xpu::isfinite(a0)"},
                                                         .combine = "s0 = s0 || r0;",
                                                         .outputs = {"s0"}});
  static const Pointwise product("unscale", {.real = {"b == T(1) ? a : a * b"}});
  if (grads.empty()) return;
  TORCH_CHECK(inverse_scale.numel() == 1 && found_inf.numel() == 1,
              "inv_scale and found_inf must be 1-element tensors");
  TORCH_CHECK(inverse_scale.scalar_type() == at::kFloat && found_inf.scalar_type() == at::kFloat,
              "inv_scale and found_inf must be float tensors");
  auto guard = guard_for(grads);
  auto found = at::empty({static_cast<std::int64_t>(grads.size())}, found_inf.options());
  for (std::size_t i = 0; i < grads.size(); ++i) {
    auto& grad = grads[i];
    TORCH_CHECK(grad.is_floating_point(), "gradients to unscale must be floating point, got ",
                grad.scalar_type());
    auto one = view_of(found[static_cast<std::int64_t>(i)]), in = view_of(grad);
    c10::SmallVector<int, 12> dims;
    for (int d = 0; d < in.ndim; ++d) dims.push_back(d);
    translate_errors([&] {
      any(stream_of(grad), std::span(&one, 1), std::span<const xpu::Tensor>(&in, 1),
          {dims.data(), dims.size()});
    });
    auto iter = at::TensorIteratorConfig()
                    .check_all_same_dtype(false)
                    .add_output(grad)
                    .add_const_input(grad)
                    .add_const_input(inverse_scale)
                    .build();
    product(iter, {}, at::kFloat);
  }
  found_inf.copy_(at::maximum(found_inf, found.amax().reshape(found_inf.sizes())));
}

Tensor& update_scale(Tensor& scale, Tensor& growth_tracker, const Tensor& found_inf, double growth,
                     double backoff, std::int64_t interval) {
  static const Pointwise kernel("update_scale",
                                {.real = {"found ? a * q : grows && xpu::isfinite(a * p) ? a * p : a",
                                          "found || grows ? T(0) : b + T(1)"},
                                 .body = "bool found = c > T(0), grows = b + T(1) == r;"});
  auto guard = guard_for(scale);
  TORCH_CHECK(scale.scalar_type() == at::kFloat && found_inf.scalar_type() == at::kFloat,
              "current_scale and found_inf must be float tensors");
  TORCH_CHECK(growth_tracker.scalar_type() == at::kInt, "growth_tracker must be an int tensor");
  auto iter = at::TensorIteratorConfig()
                  .check_all_same_dtype(false)
                  .add_output(scale)
                  .add_output(growth_tracker)
                  .add_const_input(scale)
                  .add_const_input(growth_tracker)
                  .add_const_input(found_inf)
                  .build();
  kernel(iter, {growth, backoff, at::Scalar(interval)}, at::kFloat);
  return scale;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_fused_adam_", adam<false, double>);
  m.impl("_fused_adam_.tensor_lr", adam<false, const Tensor&>);
  m.impl("_fused_adamw_", adam<true, double>);
  m.impl("_fused_adamw_.tensor_lr", adam<true, const Tensor&>);
  m.impl("_fused_sgd_", sgd<double>);
  m.impl("_fused_sgd_.tensor_lr", sgd<const Tensor&>);
  m.impl("_fused_adagrad_", adagrad<double>);
  m.impl("_fused_adagrad_.tensor_lr", adagrad<const Tensor&>);
  m.impl("_amp_foreach_non_finite_check_and_unscale_", check_and_unscale);
  m.impl("_amp_update_scale_", update_scale);
}

}  // namespace torch_xpu
