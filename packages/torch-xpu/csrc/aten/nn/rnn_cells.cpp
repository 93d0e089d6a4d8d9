// Steps of recurrent networks between their matrix products, of which nn.LSTM and nn.GRU are made.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/tensor.h"
#include "xpu/kernels/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using xpu::kernels::Elementwise;

void run(const Elementwise& kernel, std::initializer_list<Tensor> outputs,
         std::initializer_list<Tensor> inputs) {
  c10::SmallVector<xpu::Tensor, Elementwise::max_operands> to, from;
  for (auto& t : outputs) to.push_back(view_of(t));
  for (auto& t : inputs) from.push_back(view_of(t));
  if (outputs.begin()->numel() == 0) return;
  translate_errors([&] {
    kernel(stream_of(*outputs.begin()), {to.data(), to.size()}, {from.data(), from.size()});
  });
}

// A zero that broadcasts, in place of what is not given.
Tensor or_zero(const OptionalTensor& t, const Tensor& like) {
  return t && t->defined() ? *t : at::zeros({}, like.options());
}

// Gate number `i`; of a bias, or of a zero for all.
Tensor gate(const Tensor& gates, std::int64_t i, std::int64_t size, std::int64_t count = 1) {
  return gates.dim() == 0 ? gates : gates.narrow(-1, i * size, count * size);
}

constexpr const char* sigmoid =
    "template <class T> XPU_FN T squash(T x) { return (T)1 / ((T)1 + xpu::exp(-x)); }";

void check_gates(const char* name, const Tensor& input, const Tensor& hidden, const Tensor& state,
                 std::int64_t gates) {
  TORCH_CHECK(input.dim() == 2 && input.sizes() == hidden.sizes() && state.dim() == 2 &&
                  input.size(0) == state.size(0) && input.size(1) == gates * state.size(1),
              name, ": gates of sizes ", input.sizes(), " and ", hidden.sizes(), " do not fit a state of ",
              state.sizes());
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input, const Tensor& hidden, const Tensor& cell,
                                             const OptionalTensor& input_bias,
                                             const OptionalTensor& hidden_bias) {
  static const auto& add =
      *new Elementwise({.name = "lstm_gates", .outputs = {"a0 + a1 + a2 + a3"}, .inputs = 4});
  static const auto& step = *new Elementwise(
      {.name = "lstm_cell",
       .outputs = {"i", "f", "g", "o", "c", "o * xpu::tanh(c)"},
       .inputs = 5,
       .body = "T i = squash(a0), f = squash(a1), g = xpu::tanh(a2), o = squash(a3), c = f * a4 + i * g;",
       .headers = {"math", "exp", "hyperbolic"},
       .helpers = sigmoid});
  auto guard = guard_for(input, hidden, cell);
  check_one_device(input, hidden, cell, input_bias, hidden_bias);
  check_gates("_thnn_fused_lstm_cell", input, hidden, cell, 4);
  auto gates = at::empty(input.sizes(), input.options());
  auto next = at::empty(cell.sizes(), cell.options()), out = at::empty(cell.sizes(), cell.options());
  run(add, {gates}, {input, hidden, or_zero(input_bias, input), or_zero(hidden_bias, input)});
  auto size = cell.size(1);
  auto i = gate(gates, 0, size), f = gate(gates, 1, size), g = gate(gates, 2, size), o = gate(gates, 3, size);
  run(step, {i, f, g, o, next, out}, {i, f, g, o, cell});
  return {out, next, gates};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const OptionalTensor& grad_out,
                                                      const OptionalTensor& grad_next, const Tensor& cell,
                                                      const Tensor& next, const Tensor& gates,
                                                      bool has_bias) {
  // The next cell state is computed again: it would be an operand too many.
  static const auto& kernel =
      *new Elementwise({.name = "lstm_cell_backward",
                        .outputs = {"c * g * (1 - i) * i", "c * a6 * (1 - f) * f", "c * i * (1 - g * g)",
                                    "a0 * t * (1 - o) * o", "c * f"},
                        .inputs = 7,
                        .body = "T i = a2, f = a3, g = a4, o = a5, t = xpu::tanh(f * a6 + i * g), "
                                "c = a0 * o * (1 - t * t) + a1;",
                        .headers = {"math", "exp", "hyperbolic"}});
  if (!(grad_out && grad_out->defined()) && !(grad_next && grad_next->defined())) return {};
  auto guard = guard_for(cell, next, gates);
  check_one_device(grad_out, grad_next, cell, next, gates);
  auto grads = at::empty(gates.sizes(), gates.options()), grad_cell = at::empty(cell.sizes(), cell.options());
  auto size = cell.size(1);
  run(kernel,
      {gate(grads, 0, size), gate(grads, 1, size), gate(grads, 2, size), gate(grads, 3, size), grad_cell},
      {or_zero(grad_out, cell), or_zero(grad_next, cell), gate(gates, 0, size), gate(gates, 1, size),
       gate(gates, 2, size), gate(gates, 3, size), cell});
  return {grads, grad_cell, has_bias ? grads.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor& input, const Tensor& hidden, const Tensor& state,
                                    const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  static const auto& open = *new Elementwise({.name = "gru_gates",
                                              .outputs = {"squash(a0 + a1 + a2 + a3)"},
                                              .inputs = 4,
                                              .headers = {"math", "exp"},
                                              .helpers = sigmoid});
  static const auto& step = *new Elementwise({.name = "gru_cell",
                                              .outputs = {"n", "a6", "h", "n + a5 * (a6 - n)"},
                                              .inputs = 7,
                                              .body = "T h = a1 + a3, n = xpu::tanh(a0 + a2 + a4 * h);",
                                              .headers = {"math", "exp", "hyperbolic"}});
  auto guard = guard_for(input, hidden, state);
  check_one_device(input, hidden, state, input_bias, hidden_bias);
  check_gates("_thnn_fused_gru_cell", input, hidden, state, 3);
  auto size = state.size(1);
  // What the backward reads: reset, update and new gates, the state, and the hidden part of the new gate.
  auto saved = at::empty({state.size(0), 5 * size}, state.options());
  auto out = at::empty(state.sizes(), state.options());
  auto b = or_zero(input_bias, input), c = or_zero(hidden_bias, input);
  run(open, {gate(saved, 0, size, 2)},
      {gate(input, 0, size, 2), gate(hidden, 0, size, 2), gate(b, 0, size, 2), gate(c, 0, size, 2)});
  run(step, {gate(saved, 2, size), gate(saved, 3, size), gate(saved, 4, size), out},
      {gate(input, 2, size), gate(hidden, 2, size), gate(b, 2, size), gate(c, 2, size), gate(saved, 0, size),
       gate(saved, 1, size), state});
  return {out, saved};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad, const Tensor& saved,
                                                                     bool has_bias) {
  static const auto& kernel = *new Elementwise(
      {.name = "gru_cell_backward",
       .outputs = {"g * a5 * (1 - r) * r", "a0 * (a4 - n) * (1 - u) * u", "g", "g * r", "a0 * u"},
       .inputs = 6,
       .body = "T r = a1, u = a2, n = a3, g = a0 * (1 - u) * (1 - n * n);"});
  auto guard = guard_for(grad, saved);
  check_one_device(grad, saved);
  auto size = grad.size(1);
  auto of_input = at::empty({grad.size(0), 3 * size}, saved.options()), of_hidden = at::empty_like(of_input),
       of_state = at::empty(grad.sizes(), grad.options());
  run(kernel,
      {gate(of_input, 0, size), gate(of_input, 1, size), gate(of_input, 2, size), gate(of_hidden, 2, size),
       of_state},
      {grad, gate(saved, 0, size), gate(saved, 1, size), gate(saved, 2, size), gate(saved, 3, size),
       gate(saved, 4, size)});
  gate(of_hidden, 0, size, 2).copy_(gate(of_input, 0, size, 2));
  return {of_input, of_hidden, of_state, has_bias ? of_input.sum(0) : Tensor(),
          has_bias ? of_hidden.sum(0) : Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", gru_cell_backward);
}

}  // namespace torch_xpu
