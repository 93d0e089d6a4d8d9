#include "dnn/rnn/onednn.h"

#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/reorder_step.h"
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

// "ref+matmul" is accepted: its matrix products, nearly all of the work, are fast.
void reject_reference(const std::string& name) {
  reject_unless(!name.starts_with("ref") || name.find('+') != name.npos, "only oneDNN's reference code (",
                name, ") supports this");
}

memory::desc optional_desc(ExtraOperand extra) {
  return extra.tensor ? describe(*extra.tensor) : memory::desc();
}

memory::desc dense(const Tensor& like) {
  return describe(row_major(like, DType::f32));
}

memory::desc optional_dense(ExtraOperand like) {
  return like.tensor ? dense(*like.tensor) : memory::desc();
}

bool is_training(const RnnProblem& p) {
  return p.pass != RnnPass::inference;
}

Tensor states_of(const RnnProblem& p, DType dtype) {
  return {nullptr, dtype, {1, p.directions, p.batch, p.channels}};
}

// The first states of the call, or zeros in training.
memory::desc first_states(const RnnProblem& p, ExtraOperand given, DType dtype) {
  return given.tensor || !is_training(p) ? optional_desc(given) : describe(states_of(p, dtype));
}

int add_zeros(const RnnProblem& p, Plan& plan, DType dtype) {
  auto states = states_of(p, dtype);
  int operand = plan.add_scratch(static_cast<std::size_t>(states.numel()) * size_of(dtype));
  Epilogue epilogue(states.ndim, "float");
  epilogue.step("v = 0;");
  add_epilogue_step(plan, p.problem.device(), {states, operand}, {states, operand}, epilogue);
  return operand;
}

memory::desc any_f32(Tensor like) {
  like.dtype = DType::f32;
  return any_layout(like);
}

}  // namespace

RnnDescs::RnnDescs(const RnnProblem& p)
    : direction(direction_of(p.options.direction)),
      src(describe(is_training(p) ? row_major(p.src, p.src.dtype) : p.src)),
      dst(describe(p.dst)),
      bias(describe(p.bias)),
      layer(any_layout(p.weights_layer)),
      hidden(any_layout(p.weights_iter)),
      state0(first_states(p, p.state0, p.dst.dtype)),
      cell0(p.is_lstm() ? first_states(p, p.cell0, DType::f32) : memory::desc()),
      state(optional_desc(p.state)),
      cell(optional_desc(p.cell)) {
  if (p.options.kind == RnnOptions::Kind::tanh) activation = dnnl::algorithm::eltwise_tanh;
  if (p.options.kind == RnnOptions::Kind::relu) activation = dnnl::algorithm::eltwise_relu;
}

RnnGradientDescs::RnnGradientDescs(const RnnProblem& p)
    : src(dense(p.src)),
      dst(dense(p.dst)),
      bias(dense(p.bias)),
      layer(any_f32(p.weights_layer)),
      hidden(any_f32(p.weights_iter)),
      state0(dense(states_of(p, DType::f32))),
      cell0(p.is_lstm() ? state0 : memory::desc()),
      state(optional_dense(p.state)),
      cell(optional_dense(p.cell)) {}

std::vector<PrimitiveStep::Argument> rnn_arguments(const RnnProblem& p, const RnnDescs& d, Plan& plan,
                                                   const memory::desc& layer, const memory::desc& hidden) {
  int device = p.problem.device(), src = 0;
  if (is_training(p) && !p.src.contiguous()) {
    auto dense = row_major(p.src, p.src.dtype);
    src = plan.add_scratch(static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype));
    add_epilogue_step(plan, device, {p.src, 0}, {dense, src}, Epilogue(dense.ndim, "float"));
  }
  auto w = reorder_input(plan, device, {describe(p.weights_layer), 1}, layer);
  auto u = reorder_input(plan, device, {describe(p.weights_iter), 2}, hidden);
  std::vector<PrimitiveStep::Argument> arguments{{DNNL_ARG_SRC_LAYER, d.src, src},
                                                 {DNNL_ARG_WEIGHTS_LAYER, w.desc, w.operand},
                                                 {DNNL_ARG_WEIGHTS_ITER, u.desc, u.operand},
                                                 {DNNL_ARG_BIAS, d.bias, 3},
                                                 {DNNL_ARG_DST_LAYER, d.dst, 4}};
  auto add_first = [&](int id, const memory::desc& desc, ExtraOperand extra, DType dtype) {
    if (!desc.is_zero())
      arguments.push_back({id, desc, extra.tensor ? extra.operand : add_zeros(p, plan, dtype)});
  };
  add_first(DNNL_ARG_SRC_ITER, d.state0, p.state0, p.dst.dtype);
  add_first(DNNL_ARG_SRC_ITER_C, d.cell0, p.cell0, DType::f32);
  if (p.state.tensor) arguments.push_back({DNNL_ARG_DST_ITER, d.state, p.state.operand});
  if (p.cell.tensor) arguments.push_back({DNNL_ARG_DST_ITER_C, d.cell, p.cell.operand});
  return arguments;
}

std::string rnn_onednn(const RnnProblem& p, Plan& plan) {
  int device = p.problem.device();
  auto reason = onednn_matmul_unsupported_reason(device);
  reject_unless(reason.empty(), reason);
  auto& engine = engine_of(device);
  RnnDescs d(p);
  return with_rnn_forward(p, d, engine, [&](const auto& desc) {
    std::string name = desc.impl_info_str();
    if (p.pass == RnnPass::inference) reject_reference(name);
    auto arguments = rnn_arguments(p, d, plan, desc.weights_layer_desc(), desc.weights_iter_desc());
    if (p.pass == RnnPass::training) {
      rnn_backward_of(desc, d, RnnGradientDescs(p), engine);
      arguments.push_back({DNNL_ARG_WORKSPACE, desc.workspace_desc(), p.workspace});
      plan.workspace_bytes = desc.workspace_desc().get_size();
    }
    plan.add(
        std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::primitive(desc), std::move(arguments)));
    return name;
  });
}

}  // namespace xpu::dnn
