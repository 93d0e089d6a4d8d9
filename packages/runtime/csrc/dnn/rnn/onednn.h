// oneDNN descriptors and arguments that the forward and the backward of a recurrent layer share.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "dnn/primitive.h"
#include "dnn/rnn/problem.h"

namespace xpu::dnn {

// oneDNN 3.13 gives a wrong gradient of weights_layer when the source is not row-major, and of weights_iter
// when it goes from left to right without first states. In training it gets a row-major source, and zeros.
struct RnnDescs {
  explicit RnnDescs(const RnnProblem& p);

  dnnl::rnn_direction direction;
  dnnl::memory::desc src, dst, bias, layer, hidden, state0, cell0, state, cell;
  dnnl::algorithm activation = dnnl::algorithm::undef;
  dnnl::primitive_attr attributes = basic_attributes();
};

/// Returns the arguments that forward and backward both read, and the forward's results. `layer` and `hidden`
/// are the layouts of the weights.
std::vector<PrimitiveStep::Argument> rnn_arguments(const RnnProblem& p, const RnnDescs& d, Plan& plan,
                                                   const dnnl::memory::desc& layer,
                                                   const dnnl::memory::desc& hidden);

/// Descriptors of a backward: dense f32, whatever the forward's type. oneDNN chooses the layout of weights.
struct RnnGradientDescs {
  explicit RnnGradientDescs(const RnnProblem& p);

  dnnl::memory::desc src, dst, bias, layer, hidden, state0, cell0, state, cell;
};

/// Calls `use` with the forward's primitive descriptor, whose type depends on the kind.
template <class Use>
auto with_rnn_forward(const RnnProblem& p, const RnnDescs& d, const dnnl::engine& engine, Use&& use) {
  auto pass =
      p.pass == RnnPass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  using K = RnnOptions::Kind;
  switch (p.options.kind) {
    case K::lstm:
      return use(dnnl::lstm_forward::primitive_desc(engine, pass, d.direction, d.src, d.state0, d.cell0,
                                                    d.layer, d.hidden, d.bias, d.dst, d.state, d.cell,
                                                    d.attributes));
    case K::gru:
      return use(dnnl::gru_forward::primitive_desc(engine, pass, d.direction, d.src, d.state0, d.layer,
                                                   d.hidden, d.bias, d.dst, d.state, d.attributes));
    case K::gru_linear_before_reset:
      return use(dnnl::lbr_gru_forward::primitive_desc(engine, pass, d.direction, d.src, d.state0, d.layer,
                                                       d.hidden, d.bias, d.dst, d.state, d.attributes));
    default:
      return use(dnnl::vanilla_rnn_forward::primitive_desc(engine, pass, d.activation, d.direction, d.src,
                                                           d.state0, d.layer, d.hidden, d.bias, d.dst,
                                                           d.state, d.attributes));
  }
}

/// Returns the backward's primitive descriptor.
inline auto rnn_backward_of(const dnnl::lstm_forward::primitive_desc& forward, const RnnDescs& d,
                            const RnnGradientDescs& g, const dnnl::engine& engine) {
  return dnnl::lstm_backward::primitive_desc(engine, dnnl::prop_kind::backward, d.direction, d.src, d.state0,
                                             d.cell0, d.layer, d.hidden, d.bias, d.dst, d.state, d.cell,
                                             g.src, g.state0, g.cell0, g.layer, g.hidden, g.bias, g.dst,
                                             g.state, g.cell, forward, d.attributes);
}

inline auto rnn_backward_of(const dnnl::vanilla_rnn_forward::primitive_desc& forward, const RnnDescs& d,
                            const RnnGradientDescs& g, const dnnl::engine& engine) {
  return dnnl::vanilla_rnn_backward::primitive_desc(engine, dnnl::prop_kind::backward, d.activation,
                                                    d.direction, d.src, d.state0, d.layer, d.hidden, d.bias,
                                                    d.dst, d.state, g.src, g.state0, g.layer, g.hidden,
                                                    g.bias, g.dst, g.state, forward, d.attributes);
}

template <class Backward, class Forward>
auto gru_backward_of(const Forward& forward, const RnnDescs& d, const RnnGradientDescs& g,
                     const dnnl::engine& engine) {
  return typename Backward::primitive_desc(engine, dnnl::prop_kind::backward, d.direction, d.src, d.state0,
                                           d.layer, d.hidden, d.bias, d.dst, d.state, g.src, g.state0,
                                           g.layer, g.hidden, g.bias, g.dst, g.state, forward, d.attributes);
}

inline auto rnn_backward_of(const dnnl::gru_forward::primitive_desc& forward, const RnnDescs& d,
                            const RnnGradientDescs& g, const dnnl::engine& engine) {
  return gru_backward_of<dnnl::gru_backward>(forward, d, g, engine);
}

inline auto rnn_backward_of(const dnnl::lbr_gru_forward::primitive_desc& forward, const RnnDescs& d,
                            const RnnGradientDescs& g, const dnnl::engine& engine) {
  return gru_backward_of<dnnl::lbr_gru_backward>(forward, d, g, engine);
}

}  // namespace xpu::dnn
