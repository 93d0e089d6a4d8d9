#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/rnn/problem.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

// As kernels/rnn_backward.sycl declares it.
struct Shape {
  std::int64_t steps, batch, inputs, channels, directions, right_to_left;
  std::int64_t grad_dst[4], src[3], grad_src[3];
  std::int64_t layer[4], hidden[4];
  std::int64_t grad_layer[4], grad_hidden[4], grad_bias[3];
};

constexpr std::int64_t block = 8;  // kBlock there

// Removes the dimension of layers.
View of_layer(ExtraOperand states) {
  View part{*states.tensor, states.operand};
  part.tensor.ndim = 3;
  std::copy_n(states.tensor->shape + 1, 3, part.tensor.shape);
  std::copy_n(states.tensor->strides + 1, 3, part.tensor.strides);
  return part;
}

Shape shape_of(const RnnProblem& p) {
  Shape s{};
  s.steps = p.steps;
  s.batch = p.batch;
  s.inputs = p.inputs;
  s.channels = p.channels;
  s.directions = p.directions;
  s.right_to_left = p.is_right_to_left();
  if (auto* t = p.grad_dst.tensor) {
    s.grad_dst[0] = p.is_concat() ? p.channels * t->strides[2] : 0;
    std::copy_n(t->strides, 3, s.grad_dst + 1);
  }
  std::copy_n(p.src.strides, 3, s.src);
  if (auto* t = p.grad_src.tensor) std::copy_n(t->strides, 3, s.grad_src);
  std::copy_n(p.weights_layer.strides + 1, 4, s.layer);
  std::copy_n(p.weights_iter.strides + 1, 4, s.hidden);
  if (auto* t = p.grad_weights_layer.tensor) std::copy_n(t->strides + 1, 4, s.grad_layer);
  if (auto* t = p.grad_weights_iter.tensor) std::copy_n(t->strides + 1, 4, s.grad_hidden);
  if (auto* t = p.grad_bias.tensor) std::copy_n(t->strides + 1, 3, s.grad_bias);
  return s;
}

const char* type_of(ExtraOperand extra) {
  return extra.tensor ? kernel_type(extra.tensor->dtype) : "float";
}

struct Builder {
  const RnnProblem& p;
  Plan& plan;
  int device = p.problem.device();
  Shape shape = shape_of(p);
  std::string source =
      join("#define XPU_KIND ", static_cast<int>(p.options.kind), "\n#define XPU_HAS_GRAD_DST ",
           p.grad_dst.tensor != nullptr, "\n#define XPU_SRC ", kernel_type(p.src.dtype),
           "\n#define XPU_WEIGHT ", kernel_type(p.weights_layer.dtype), "\n#define XPU_GRAD_DST ",
           type_of(p.grad_dst), "\n#define XPU_GRAD_SRC ", type_of(p.grad_src), "\n#define XPU_GRAD_LAYER ",
           type_of(p.grad_weights_layer), "\n#define XPU_GRAD_HIDDEN ", type_of(p.grad_weights_iter),
           "\n#define XPU_GRAD_BIAS ", type_of(p.grad_bias), "\n") +
      kernel_source("rnn_backward.sycl");
  Tensor rows = Tensor(nullptr, DType::f32, {p.directions, p.batch, p.channels});
  int state = plan.add_scratch(static_cast<std::size_t>(rows.numel()) * 4);
  int cell = p.is_lstm() ? plan.add_scratch(static_cast<std::size_t>(rows.numel()) * 4) : state;
  // As many values as there are biases.
  std::int64_t deltas_of = p.bias.shape[2];
  int deltas = plan.add_scratch(static_cast<std::size_t>(rows.numel() * p.steps * deltas_of) * 4);

  // Fills with zeros if the call has no gradient.
  void load(ExtraOperand from, int to) {
    Epilogue epilogue(3, "float");
    if (!from.tensor) epilogue.step("v = 0;");
    add_epilogue_step(plan, device, from.tensor ? of_layer(from) : View{rows, to}, {rows, to}, epilogue);
  }
  void store(ExtraOperand into, int from) {
    if (into.tensor) add_epilogue_step(plan, device, {rows, from}, of_layer(into), Epilogue(3, "float"));
  }
  void add(const char* kernel, NdRange range, KernelArguments arguments) {
    arguments.value(shape);
    plan.add(std::make_unique<KernelStep>(build_kernel(device, source, kernel), range, std::move(arguments)));
  }
  // One item computes `block` elements of the gradient along a dimension of `length`.
  void sum(const char* kernel, ExtraOperand gradient, std::int64_t length, std::int64_t block,
           KernelArguments arguments) {
    if (!gradient.tensor) return;
    constexpr std::int64_t group = 64;
    auto items = gradient.tensor->numel() / length * ((length + block - 1) / block);
    add(kernel, NdRange::linear(static_cast<std::size_t>((items + group - 1) / group), group),
        std::move(arguments.operand(gradient.operand)));
  }
};

}  // namespace

std::string rnn_sycl_backward(const RnnProblem& p, Plan& plan) {
  for (auto* extra : {&p.grad_dst, &p.grad_src, &p.grad_weights_layer, &p.grad_weights_iter, &p.grad_bias})
    reject_unless(!extra->tensor || (is_float(extra->tensor->dtype) && extra->tensor->dtype != DType::f64),
                  "only floats up to f32");
  Builder build{p, plan};
  plan.workspace_bytes =
      static_cast<std::size_t>(build.rows.numel() * p.steps * rnn_sycl_saved_values(p)) * sizeof(float);
  build.load(p.grad_state, build.state);
  if (p.is_lstm()) build.load(p.grad_cell, build.cell);
  KernelArguments arguments;
  arguments.operand(p.workspace).operand(2);
  if (p.grad_dst.tensor) arguments.operand(p.grad_dst.operand);
  arguments.operand(build.state).operand(build.cell).operand(build.deltas);
  auto group = std::min<std::size_t>(128, device_info(build.device).max_work_group_size);
  build.add("rnn_sweep", NdRange::linear(static_cast<std::size_t>(p.directions * p.batch), group),
            std::move(arguments));
  build.store(p.grad_state0, build.state);
  if (p.is_lstm()) build.store(p.grad_cell0, build.cell);
  auto operands = [](std::initializer_list<int> indices) {
    KernelArguments list;
    for (int index : indices) list.operand(index);
    return list;
  };
  build.sum("rnn_grad_src", p.grad_src, p.steps * p.batch, block, operands({build.deltas, 1}));
  build.sum("rnn_grad_layer", p.grad_weights_layer, p.inputs, block, operands({0, build.deltas}));
  build.sum("rnn_grad_hidden", p.grad_weights_iter, p.channels, block, operands({p.workspace, build.deltas}));
  build.sum("rnn_grad_bias", p.grad_bias, 1, 1, operands({build.deltas}));
  return "rnn_sweep";
}

}  // namespace xpu::dnn
