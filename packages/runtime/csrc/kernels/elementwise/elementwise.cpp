#include "xpu/kernels/elementwise.h"

#include <vector>

#include "kernels/call.h"
#include "kernels/contiguous.h"
#include "kernels/elementwise/plan.h"
#include "kernels/index/access.h"
#include "xpu/error.h"

namespace xpu::kernels {

struct Elementwise::State {
  Expression expression;
  mutable KernelTable kernels;
};

namespace {

void check(const Expression& e) {
  check_name(e.name, "elementwise");
  expect<UsageError>(!e.outputs.empty(), "elementwise ", e.name, ": there is no output expression");
  auto operands = static_cast<int>(e.outputs.size()) + e.inputs;
  expect<UsageError>(e.inputs >= 0 && operands <= Elementwise::max_operands, "elementwise ", e.name, ": got ",
                     operands, " operands, expected at most ", Elementwise::max_operands);
  expect<UsageError>(e.scalars >= 0 && e.scalars <= Elementwise::max_scalars, "elementwise ", e.name,
                     ": got ", e.scalars, " scalars, expected at most ", Elementwise::max_scalars);
}

void check_call(const Expression& e, std::span<const Tensor> outputs, std::span<const Tensor> inputs) {
  expect<UsageError>(
      outputs.size() == e.outputs.size() && inputs.size() == static_cast<std::size_t>(e.inputs),
      "elementwise ", e.name, ": got ", outputs.size(), " outputs and ", inputs.size(), " inputs, expected ",
      e.outputs.size(), " and ", e.inputs);
}

// Calls `op` with row-major copies, which one dimension describes.
void call_contiguous(const Elementwise& op, Stream stream, std::span<const Tensor> outputs,
                     std::span<const Tensor> inputs, std::span<const Scalar> scalars,
                     std::optional<DType> compute) {
  std::vector<ContiguousInput> from;
  std::vector<ContiguousOutput> to;
  std::vector<Tensor> contiguous_inputs, contiguous_outputs;
  for (auto& t : inputs) {
    from.emplace_back(stream, broadcast_to(op.expression().name.c_str(), "an input", t, outputs[0]));
    contiguous_inputs.push_back(from.back().tensor());
  }
  for (auto& t : outputs) {
    to.emplace_back(stream, t);
    contiguous_outputs.push_back(to.back().tensor());
  }
  op(stream, contiguous_outputs, contiguous_inputs, scalars, compute);
  for (auto& t : to) t.finish();
}

}  // namespace

Elementwise::Elementwise(Expression expression) {
  check(expression);
  state_ = std::make_unique<State>();
  state_->expression = std::move(expression);
}

Elementwise::~Elementwise() = default;

const Expression& Elementwise::expression() const {
  return state_->expression;
}

void Elementwise::operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                             std::span<const Scalar> scalars, std::optional<DType> compute) const {
  auto& e = state_->expression;
  check_call(e, outputs, inputs);
  expect<UsageError>(scalars.size() == static_cast<std::size_t>(e.scalars), "elementwise ", e.name, ": got ",
                     scalars.size(), " scalars, expected ", e.scalars);
  int device = stream.device();
  auto& shape = tuning(device);
  Plan plan = make_plan(shape, e, outputs, inputs, compute_dtype(outputs, inputs, compute));
  if (plan.count == 0) return;
  if (plan.exceeds_kernel_dims()) return call_contiguous(*this, stream, outputs, inputs, scalars, compute);
  Kernel kernel = state_->kernels.find_or_make(plan.variant.key(device), [&] {
    return build_shared_kernel(device, elementwise_source(shape, e, plan.variant),
                               elementwise_kernel_name(e));
  });
  Args args;
  std::size_t bytes = 0;
  int k = 0;
  for (auto& t : outputs) add_pointer(args, e.name, t, plan.geometry.offset[k++]), bytes += size_of(t.dtype);
  for (auto& t : inputs) add_pointer(args, e.name, t, plan.geometry.offset[k++]), bytes += size_of(t.dtype);
  add_scalars(args, plan.variant.compute, scalars);
  NdRange range = add_geometry(args, shape, plan);
  launch(stream, kernel, range, args, bytes * static_cast<std::size_t>(plan.count));
}

std::string Elementwise::source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                                std::optional<DType> compute) const {
  check_call(state_->expression, outputs, inputs);
  auto& shape = tuning(device);
  Plan plan = make_plan(shape, state_->expression, outputs, inputs, compute_dtype(outputs, inputs, compute));
  return elementwise_source(shape, state_->expression, plan.variant);
}

}  // namespace xpu::kernels
