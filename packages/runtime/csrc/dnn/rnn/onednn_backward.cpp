#include "dnn/rnn/onednn.h"

#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/reorder_step.h"

namespace xpu::dnn {
namespace {

using dnnl::memory;

// Collects the primitive's arguments, and the copies before and after it.
struct Builder {
  const RnnProblem& p;
  Plan& plan;
  int device = p.problem.device();
  std::vector<PrimitiveStep::Argument> arguments = {};
  std::vector<std::pair<View, View>> stores = {};
  std::vector<std::pair<PlacedOperand, PlacedOperand>> reorders = {};

  void add(int id, const memory::desc& desc, int operand) { arguments.push_back({id, desc, operand}); }
  int add_scratch(const Tensor& t) {
    return plan.add_scratch(static_cast<std::size_t>(t.numel()) * size_of(t.dtype));
  }
  static bool is_f32_contiguous(ExtraOperand gradient) {
    return gradient.tensor && gradient.tensor->dtype == DType::f32 && gradient.tensor->contiguous();
  }

  void zero(const Tensor& tensor, int operand) {
    Epilogue epilogue(tensor.ndim, "float");
    epilogue.step("v = 0;");
    add_epilogue_step(plan, device, {tensor, operand}, {tensor, operand}, epilogue);
  }
  // The gradient of a result, of the shape of `of`.
  void add_result_gradient(int id, const Tensor& of, ExtraOperand gradient) {
    auto dense = row_major(of, DType::f32);
    int operand = is_f32_contiguous(gradient) ? gradient.operand : add_scratch(dense);
    if (!gradient.tensor)
      zero(dense, operand);
    else if (!is_f32_contiguous(gradient))
      add_epilogue_step(plan, device, {*gradient.tensor, gradient.operand}, {dense, operand},
                        Epilogue(dense.ndim, "float"));
    add(id, describe(dense), operand);
  }
  // The gradient of something the forward read, of the shape of `of`.
  int add_input_gradient(int id, const Tensor& of, ExtraOperand gradient) {
    auto dense = row_major(of, DType::f32);
    int operand = is_f32_contiguous(gradient) ? gradient.operand : add_scratch(dense);
    if (gradient.tensor && !is_f32_contiguous(gradient))
      stores.push_back({{dense, operand}, {*gradient.tensor, gradient.operand}});
    add(id, describe(dense), operand);
    return operand;
  }
  // oneDNN adds the gradients of weights and bias to the previous content, so it is set to zero.
  void add_weight_gradient(int id, const memory::desc& wanted, ExtraOperand gradient) {
    PlacedOperand written{wanted, -1};
    if (gradient.tensor) {
      PlacedOperand to{describe(*gradient.tensor), gradient.operand};
      written = stage_output(plan, to, wanted);
      reorders.emplace_back(written, to);
    } else {
      written.operand = plan.add_scratch(wanted.get_size());
    }
    auto count = static_cast<std::int64_t>(wanted.get_size() / sizeof(float));
    zero(Tensor(nullptr, DType::f32, {count}), written.operand);
    add(id, written.desc, written.operand);
  }
  void finish() {
    for (auto& [from, to] : stores)
      add_epilogue_step(plan, device, from, to, Epilogue(to.tensor.ndim, "float"));
    for (auto& [from, to] : reorders) reorder_output(plan, device, from, to);
  }
};

}  // namespace

std::string rnn_onednn_backward(const RnnProblem& p, Plan& plan) {
  int device = p.problem.device();
  auto& engine = engine_of(device);
  RnnDescs d(p);
  RnnGradientDescs g(p);
  return with_rnn_forward(p, d, engine, [&](const auto& forward) {
    auto desc = rnn_backward_of(forward, d, g, engine);
    std::string name = desc.impl_info_str();
    Builder build{p, plan};
    build.arguments = rnn_arguments(p, d, plan, desc.weights_layer_desc(), desc.weights_iter_desc());
    build.add(DNNL_ARG_WORKSPACE, desc.workspace_desc(), p.workspace);
    build.add_result_gradient(DNNL_ARG_DIFF_DST_LAYER, p.dst, p.grad_dst);
    if (p.state.tensor) build.add_result_gradient(DNNL_ARG_DIFF_DST_ITER, *p.state.tensor, p.grad_state);
    if (p.cell.tensor) build.add_result_gradient(DNNL_ARG_DIFF_DST_ITER_C, *p.cell.tensor, p.grad_cell);
    build.add_input_gradient(DNNL_ARG_DIFF_SRC_LAYER, p.src, p.grad_src);
    Tensor states(nullptr, DType::f32, {1, p.directions, p.batch, p.channels});
    build.add_input_gradient(DNNL_ARG_DIFF_SRC_ITER, states, p.grad_state0);
    if (p.is_lstm()) build.add_input_gradient(DNNL_ARG_DIFF_SRC_ITER_C, states, p.grad_cell0);
    int bias = build.add_input_gradient(DNNL_ARG_DIFF_BIAS, p.bias, p.grad_bias);
    build.zero(row_major(p.bias, DType::f32), bias);
    build.add_weight_gradient(DNNL_ARG_DIFF_WEIGHTS_LAYER, desc.diff_weights_layer_desc(),
                              p.grad_weights_layer);
    build.add_weight_gradient(DNNL_ARG_DIFF_WEIGHTS_ITER, desc.diff_weights_iter_desc(), p.grad_weights_iter);
    plan.workspace_bytes = desc.workspace_desc().get_size();
    plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::primitive(desc),
                                             std::move(build.arguments)));
    build.finish();
    return name;
  });
}

}  // namespace xpu::dnn
