#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/rnn/problem.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

// As kernels/rnn.sycl declares it.
struct Shape {
  std::int64_t steps, batch, inputs, channels, reverse;
  std::int64_t src[3], dst[3], layer[3], hidden[3], bias[2];
};

std::int64_t byte_offset(const Tensor& t, std::int64_t direction) {
  return direction * t.strides[1] * static_cast<std::int64_t>(size_of(t.dtype));
}

// The states of one direction.
View direction_of(ExtraOperand states, std::int64_t direction) {
  auto& t = *states.tensor;
  View part{t, states.operand, byte_offset(t, direction)};
  part.tensor.ndim = 2;
  std::copy_n(t.shape + 2, 2, part.tensor.shape);
  std::copy_n(t.strides + 2, 2, part.tensor.strides);
  return part;
}

struct Builder {
  const RnnProblem& p;
  Plan& plan;
  int device = p.problem.device();
  Tensor rows = Tensor(nullptr, DType::f32, {p.batch, p.channels});
  int state = plan.add_scratch(p.batch * p.channels * 4), cell = plan.add_scratch(p.batch * p.channels * 4);
  bool train = p.pass == RnnPass::training;
  // One direction's gates and states.
  std::int64_t saved_bytes = rnn_sycl_saved_values(p) * p.channels * p.batch * (train ? p.steps : 1) * 4;
  int saved = train ? p.workspace : plan.add_scratch(saved_bytes);

  // Fills with zeros if the call has no state.
  void load(ExtraOperand from, std::int64_t direction, int to) {
    Epilogue epilogue(2, "float");
    if (!from.tensor) epilogue.step("v = 0;");
    auto source = from.tensor ? direction_of(from, direction) : View{rows, to};
    add_epilogue_step(plan, device, source, {rows, to}, epilogue);
  }
  void store(ExtraOperand into, std::int64_t direction, int from) {
    if (!into.tensor) return;
    add_epilogue_step(plan, device, {rows, from}, direction_of(into, direction), Epilogue(2, "float"));
  }

  void sweep(std::int64_t direction) {
    auto &src = p.src, &dst = p.dst, &layer = p.weights_layer, &hidden = p.weights_iter;
    bool reverse = direction == 1 || p.is_right_to_left();
    bool add = direction == 1 && !p.is_concat();
    auto source =
        join("#define XPU_SRC ", kernel_type(src.dtype), "\n#define XPU_WEIGHT ", kernel_type(layer.dtype),
             "\n#define XPU_BIAS ", kernel_type(p.bias.dtype), "\n#define XPU_DST ", kernel_type(dst.dtype),
             "\n#define XPU_KIND ", static_cast<int>(p.options.kind), "\n#define XPU_ADD ", add,
             "\n#define XPU_TRAIN ", train, "\n") +
        define_step("XPU_LAYER_STEP", layer.strides[4], "s.layer[2]") +
        define_step("XPU_HIDDEN_STEP", hidden.strides[4], "s.hidden[2]") + kernel_source("rnn.sycl");
    Shape s{p.steps, p.batch, p.inputs, p.channels, reverse, {}, {}, {}, {}, {}};
    std::copy_n(src.strides, 3, s.src);
    std::copy_n(dst.strides, 3, s.dst);
    std::copy_n(layer.strides + 2, 3, s.layer);
    std::copy_n(hidden.strides + 2, 3, s.hidden);
    std::copy_n(p.bias.strides + 2, 2, s.bias);
    // The second direction's channels come after the first's.
    auto dst_offset = p.is_concat() ? direction * p.channels * dst.strides[2] *
                                          static_cast<std::int64_t>(size_of(dst.dtype))
                                    : 0;
    KernelArguments arguments;
    arguments.operand(0)
        .operand(1, byte_offset(p.weights_layer, direction))
        .operand(2, byte_offset(p.weights_iter, direction))
        .operand(3, byte_offset(p.bias, direction))
        .operand(4, dst_offset)
        .operand(state)
        .operand(cell)
        .operand(saved, train ? direction * saved_bytes : 0)
        .value(s);
    auto group = std::min<std::size_t>(128, device_info(device).max_work_group_size);
    plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "rnn"),
                                          NdRange::linear(p.batch, group), std::move(arguments)));
  }
};

}  // namespace

std::int64_t rnn_sycl_saved_values(const RnnProblem& p) {
  using K = RnnOptions::Kind;
  bool train = p.pass != RnnPass::inference;
  switch (p.options.kind) {
    case K::lstm:
      return train ? 6 : 5;
    case K::gru:
      return 4;
    case K::gru_linear_before_reset:
      return 5;
    default:
      return 2;
  }
}

std::string rnn_sycl(const RnnProblem& p, Plan& plan) {
  for (auto* t : {&p.src, &p.weights_layer, &p.bias, &p.dst})
    reject_unless(is_float(t->dtype) && t->dtype != DType::f64, "only floats up to f32");
  reject_unless(p.weights_layer.dtype == p.weights_iter.dtype, "the two weights differ in type");
  Builder build{p, plan};
  if (build.train) plan.workspace_bytes = static_cast<std::size_t>(p.directions * build.saved_bytes);
  for (std::int64_t direction = 0; direction < p.directions; ++direction) {
    build.load(p.state0, direction, build.state);
    if (p.is_lstm()) build.load(p.cell0, direction, build.cell);
    build.sweep(direction);
    build.store(p.state, direction, build.state);
    if (p.is_lstm()) build.store(p.cell, direction, build.cell);
  }
  return "rnn";
}

}  // namespace xpu::dnn
