#include "xpu/kernels/reduce.h"

#include <vector>

#include "kernels/call.h"
#include "kernels/contiguous.h"
#include "kernels/index/access.h"
#include "kernels/reduce/plan.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/memory.h"

namespace xpu::kernels {

struct Reduction::State {
  ReductionExpression expression;
  mutable KernelTable kernels, finishers;
};

namespace {

void check(const ReductionExpression& e) {
  check_name(e.name, "reduction");
  auto accumulators = static_cast<int>(e.accumulators.size());
  expect<UsageError>(accumulators > 0 && accumulators <= Reduction::max_accumulators, "reduction ", e.name,
                     ": got ", accumulators, " accumulators, expected 1 to ", Reduction::max_accumulators);
  expect<UsageError>(e.update.empty() ? e.map.size() == e.accumulators.size() : e.map.empty(), "reduction ",
                     e.name, ": got ", e.map.size(),
                     " expressions in map, expected one for each accumulator, or none beside update");
  auto operands = static_cast<int>(e.outputs.size()) + e.inputs;
  expect<UsageError>(!e.outputs.empty() && e.inputs > 0 && operands <= Reduction::max_operands, "reduction ",
                     e.name, ": got ", e.outputs.size(), " outputs and ", e.inputs,
                     " inputs, expected at least one of each and at most ", Reduction::max_operands,
                     " in all");
  expect<UsageError>(e.scalars >= 0 && e.scalars <= Elementwise::max_scalars, "reduction ", e.name, ": got ",
                     e.scalars, " scalars, expected at most ", Elementwise::max_scalars);
}

void check_call(const ReductionExpression& e, std::span<const Tensor> outputs,
                std::span<const Tensor> inputs) {
  expect<UsageError>(
      outputs.size() == e.outputs.size() && inputs.size() == static_cast<std::size_t>(e.inputs), "reduction ",
      e.name, ": got ", outputs.size(), " outputs and ", inputs.size(), " inputs, expected ",
      e.outputs.size(), " and ", e.inputs);
}

/// Memory for the States of all chunks, given back to the stream's pool at the end of the scope.
class Partials {
 public:
  Partials(Stream stream, const ReducePlan& plan, const ReductionExpression& e) {
    // The widest accumulator is a complex double.
    auto states = static_cast<std::size_t>(plan.tiling.results * plan.tiling.chunks);
    if (plan.variant.split) memory_ = memory::allocate(states * e.accumulators.size() * 16, stream);
  }
  ~Partials() { memory::deallocate(memory_); }
  Partials(const Partials&) = delete;
  Partials& operator=(const Partials&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

// Calls `op` with row-major copies that have the reduced dimensions last, so that results and reduced
// elements need one dimension each. The elements of a result keep their order.
void call_contiguous(const Reduction& op, Stream stream, std::span<const Tensor> outputs,
                     std::span<const Tensor> inputs, std::span<const int> dims,
                     std::span<const Scalar> scalars, std::optional<DType> compute) {
  auto name = op.expression().name.c_str();
  auto mask = reduced_dims(inputs[0], dims, name);
  std::vector<int> order, last;
  for (bool reduced : {false, true})
    for (int d = 0; d < inputs[0].ndim; ++d)
      if (mask[d] == reduced) order.push_back(d);
  auto remaining = static_cast<int>(order.size() - dims.size());
  for (int d = remaining; d < inputs[0].ndim; ++d) last.push_back(d);
  auto in_order = [&](const Tensor& t, int count) {
    Tensor permuted = t;
    permuted.ndim = count;
    for (int i = 0; i < count; ++i) {
      auto d = order[static_cast<std::size_t>(i)];
      permuted.shape[i] = t.shape[d], permuted.strides[i] = t.strides[d];
    }
    return permuted;
  };
  std::vector<ContiguousInput> from;
  std::vector<ContiguousOutput> to;
  std::vector<Tensor> contiguous_inputs, contiguous_outputs;
  for (auto& t : inputs) {
    from.emplace_back(stream, in_order(broadcast_to(name, "an input", t, inputs[0]), inputs[0].ndim));
    contiguous_inputs.push_back(from.back().tensor());
  }
  for (auto& t : outputs) {
    to.emplace_back(stream, t.ndim == inputs[0].ndim ? in_order(t, remaining) : t);
    contiguous_outputs.push_back(to.back().tensor());
  }
  op(stream, contiguous_outputs, contiguous_inputs, last, scalars, compute);
  for (auto& t : to) t.finish();
}

}  // namespace

Reduction::Reduction(ReductionExpression expression) {
  check(expression);
  state_ = std::make_unique<State>();
  state_->expression = std::move(expression);
}

Reduction::~Reduction() = default;

const ReductionExpression& Reduction::expression() const {
  return state_->expression;
}

void Reduction::operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                           std::span<const int> dims, std::span<const Scalar> scalars,
                           std::optional<DType> compute) const {
  auto& e = state_->expression;
  check_call(e, outputs, inputs);
  expect<UsageError>(scalars.size() == static_cast<std::size_t>(e.scalars), "reduction ", e.name, ": got ",
                     scalars.size(), " scalars, expected ", e.scalars);
  int device = stream.device();
  auto& shape = tuning(device);
  ReducePlan plan =
      make_reduce_plan(shape, e, outputs, inputs, dims, compute_dtype(outputs, inputs, compute));
  if (plan.tiling.results == 0) return;
  if (plan.exceeds_kernel_dims())
    return call_contiguous(*this, stream, outputs, inputs, dims, scalars, compute);
  auto key = plan.variant.key(device);
  auto build = [&](const std::string& name) {
    return build_shared_kernel(device, reduce_source(shape, e, plan.variant), name);
  };
  Kernel kernel = state_->kernels.find_or_make(key, [&] { return build(reduce_kernel_name(e)); });
  Args args;
  std::size_t bytes = 0, k = 0;
  for (auto& t : outputs) add_pointer(args, e.name, t, plan.results.offset[inputs.size() + k++]);
  k = 0;
  for (auto& t : inputs) {
    // An input without elements is not read, and may have no memory.
    if (plan.tiling.count == 0)
      args.add(static_cast<void*>(t.data));
    else
      add_pointer(args, e.name, t, plan.results.offset[k] + plan.reduced.offset[k]);
    ++k;
    bytes += size_of(t.dtype);
  }
  add_scalars(args, plan.variant.compute, scalars);
  add_shape(args, plan);
  Partials partials(stream, plan, e);
  if (plan.variant.split) args.add(partials.get());
  launch(stream, kernel, tile_range(shape, plan.tiling.tiles), args,
         bytes * static_cast<std::size_t>(plan.tiling.results * plan.tiling.count));
  if (!plan.variant.split) return;
  Kernel finish = state_->finishers.find_or_make(key, [&] { return build(reduce_finish_name(e)); });
  launch(stream, finish, tile_range(shape, plan.tiling.results), args);
}

std::string Reduction::source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                              std::span<const int> dims, std::optional<DType> compute) const {
  check_call(state_->expression, outputs, inputs);
  auto& shape = tuning(device);
  ReducePlan plan = make_reduce_plan(shape, state_->expression, outputs, inputs, dims,
                                     compute_dtype(outputs, inputs, compute));
  return reduce_source(shape, state_->expression, plan.variant);
}

}  // namespace xpu::kernels
