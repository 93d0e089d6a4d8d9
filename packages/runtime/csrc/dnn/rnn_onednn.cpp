#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/reorder_step.h"
#include "dnn/rnn_problem.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

using dnnl::memory;

dnnl::rnn_direction direction_of(RnnOptions::Direction direction) {
  using D = RnnOptions::Direction;
  switch (direction) {
    case D::left_to_right:
      return dnnl::rnn_direction::unidirectional_left2right;
    case D::right_to_left:
      return dnnl::rnn_direction::unidirectional_right2left;
    case D::both_concat:
      return dnnl::rnn_direction::bidirectional_concat;
    case D::both_sum:
      return dnnl::rnn_direction::bidirectional_sum;
  }
  fail<InternalError>("unknown direction");
}

memory::desc optional_desc(Extra extra) {
  return extra.tensor ? describe(*extra.tensor) : memory::desc();
}

}  // namespace

std::string rnn_onednn(const RnnProblem& p, Plan& plan) {
  int device = p.problem.device();
  auto refusal = onednn_matmul_refusal(device);
  refuse_unless(refusal.empty(), refusal);
  auto& engine = engine_of(device);
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  auto direction = direction_of(p.options.direction);
  auto src = describe(p.src), dst = describe(p.dst), bias = describe(p.bias);
  auto layer = any_layout(p.weights_layer), hidden = any_layout(p.weights_iter);
  auto state0 = optional_desc(p.state0), cell0 = optional_desc(p.cell0), state = optional_desc(p.state),
       cell = optional_desc(p.cell);
  auto attributes = basic_attributes();

  auto finish = [&](const auto& desc, const dnnl::primitive& primitive) {
    std::string name = desc.impl_info_str();
    // "ref+matmul" is reference code around fast matrix products, which are nearly all of the work.
    refuse_unless(!name.starts_with("ref") || name.find('+') != name.npos, "only oneDNN's reference code (",
                  name, ") takes this");
    auto w = read_as(plan, device, {describe(p.weights_layer), 1}, desc.weights_layer_desc());
    auto u = read_as(plan, device, {describe(p.weights_iter), 2}, desc.weights_iter_desc());
    Arguments arguments{{DNNL_ARG_SRC_LAYER, src, 0},
                        {DNNL_ARG_WEIGHTS_LAYER, w.desc, w.operand},
                        {DNNL_ARG_WEIGHTS_ITER, u.desc, u.operand},
                        {DNNL_ARG_BIAS, bias, 3},
                        {DNNL_ARG_DST_LAYER, dst, 4}};
    auto add = [&](int id, Extra extra) {
      if (extra.tensor) arguments.push_back({id, describe(*extra.tensor), extra.operand});
    };
    add(DNNL_ARG_SRC_ITER, p.state0);
    add(DNNL_ARG_SRC_ITER_C, p.cell0);
    add(DNNL_ARG_DST_ITER, p.state);
    add(DNNL_ARG_DST_ITER_C, p.cell);
    plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, primitive, std::move(arguments)));
    return name;
  };

  using K = RnnOptions::Kind;
  switch (p.options.kind) {
    case K::lstm: {
      dnnl::lstm_forward::primitive_desc desc(engine, kind, direction, src, state0, cell0, layer, hidden,
                                              bias, dst, state, cell, attributes);
      return finish(desc, dnnl::lstm_forward(desc));
    }
    case K::gru: {
      dnnl::gru_forward::primitive_desc desc(engine, kind, direction, src, state0, layer, hidden, bias, dst,
                                             state, attributes);
      return finish(desc, dnnl::gru_forward(desc));
    }
    case K::gru_linear_before_reset: {
      dnnl::lbr_gru_forward::primitive_desc desc(engine, kind, direction, src, state0, layer, hidden, bias,
                                                 dst, state, attributes);
      return finish(desc, dnnl::lbr_gru_forward(desc));
    }
    default: {
      auto activation =
          p.options.kind == K::tanh ? dnnl::algorithm::eltwise_tanh : dnnl::algorithm::eltwise_relu;
      dnnl::vanilla_rnn_forward::primitive_desc desc(engine, kind, activation, direction, src, state0, layer,
                                                     hidden, bias, dst, state, attributes);
      return finish(desc, dnnl::vanilla_rnn_forward(desc));
    }
  }
}

}  // namespace xpu::dnn
