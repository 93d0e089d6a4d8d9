#include "dnn/rnn/layers.h"

#include "dnn/operand_checks.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

const char name[] = "rnn";

int gates_of(RnnOptions::Kind kind) {
  using K = RnnOptions::Kind;
  return kind == K::lstm ? 4 : kind == K::gru || kind == K::gru_linear_before_reset ? 3 : 1;
}

}  // namespace

std::int64_t rnn_layers(const RnnTensors& n, const RnnOptions& o) {
  using D = RnnOptions::Direction;
  expect<UsageError>(o.kind == RnnOptions::Kind::lstm || (!n.cell0 && !n.cell),
                     "rnn: only an LSTM has cell states");
  expect<UsageError>(n.src.ndim == 3 && n.weights_layer.ndim == 5,
                     "rnn: expected a source T N C and weights L D I G O; got ", n.src, " and ",
                     n.weights_layer);
  auto steps = n.src.shape[0], batch = n.src.shape[1], inputs = n.src.shape[2];
  auto layers = n.weights_layer.shape[0], channels = n.weights_layer.shape[4];
  bool concat = o.direction == D::both_concat, both = concat || o.direction == D::both_sum;
  std::int64_t directions = both ? 2 : 1, outputs = concat ? 2 * channels : channels;
  auto gates = gates_of(o.kind), biases = gates + (o.kind == RnnOptions::Kind::gru_linear_before_reset);
  require_shape(name, "weights_layer", n.weights_layer, {layers, directions, inputs, gates, channels});
  require_shape(name, "weights_iter", n.weights_iter, {layers, directions, channels, gates, channels});
  require_shape(name, "bias", n.bias, {layers, directions, biases, channels});
  require_shape(name, "dst", n.dst, {steps, batch, outputs});
  expect<UsageError>(layers == 1 || inputs == outputs, "rnn: ", layers,
                     " layers in one call need as many inputs (", inputs, ") as outputs (", outputs,
                     "); call the first layer alone");
  const std::int64_t states[] = {layers, directions, batch, channels};
  require_shape(name, "state0", n.state0, states);
  require_shape(name, "cell0", n.cell0, states);
  require_shape(name, "state", n.state, states);
  require_shape(name, "cell", n.cell, states);
  for (auto* t : {&n.src, &n.weights_layer, &n.weights_iter, &n.bias, &n.dst})
    require_float(name, "a tensor", *t);
  for (auto* t : {&n.state0, &n.cell0, &n.state, &n.cell}) require_float(name, "a state", *t);
  return layers;
}

void check_rnn_gradients(const RnnTensors& n, const RnnGradients& g) {
  auto same = [](const char* what, const std::optional<Tensor>& gradient, const std::optional<Tensor>& of) {
    if (!gradient) return;
    expect<UsageError>(of.has_value(), "rnn_backward: got the gradient of ", what,
                       ", which the forward had not");
    auto name = join("the gradient of ", what);
    require_shape_of("rnn_backward", name.c_str(), gradient, *of);
    require_float("rnn_backward", name.c_str(), gradient);
  };
  same("dst", g.dst, n.dst);
  same("state", g.state, n.state);
  same("cell", g.cell, n.cell);
  same("src", g.src, n.src);
  same("weights_layer", g.weights_layer, n.weights_layer);
  same("weights_iter", g.weights_iter, n.weights_iter);
  same("bias", g.bias, n.bias);
  same("state0", g.state0, n.state0);
  same("cell0", g.cell0, n.cell0);
}

Tensor one_layer(Tensor t, std::int64_t layer) {
  t.data = static_cast<char*>(t.data) + layer * t.strides[0] * static_cast<std::int64_t>(size_of(t.dtype));
  t.shape[0] = 1;
  return t;
}

RnnTensors one_layer(const RnnTensors& all, std::int64_t layer, const Tensor& src, const Tensor& dst) {
  return {src,
          one_layer(all.weights_layer, layer),
          one_layer(all.weights_iter, layer),
          one_layer(all.bias, layer),
          dst,
          one_layer(all.state0, layer),
          one_layer(all.cell0, layer),
          one_layer(all.state, layer),
          one_layer(all.cell, layer)};
}

RnnGradients one_layer(const RnnGradients& all, std::int64_t layer) {
  return {.dst = all.dst,
          .state = one_layer(all.state, layer),
          .cell = one_layer(all.cell, layer),
          .src = all.src,
          .weights_layer = one_layer(all.weights_layer, layer),
          .weights_iter = one_layer(all.weights_iter, layer),
          .bias = one_layer(all.bias, layer),
          .state0 = one_layer(all.state0, layer),
          .cell0 = one_layer(all.cell0, layer)};
}

}  // namespace xpu::dnn
