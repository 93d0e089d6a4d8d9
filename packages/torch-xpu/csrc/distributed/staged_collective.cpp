#include "distributed/staged_collective.h"

#include <ATen/ops/empty.h>

#include <memory>
#include <utility>

#include "distributed/reduction.h"
#include "distributed/staging.h"

namespace torch_xpu::distributed {

using std::chrono::milliseconds;

void store_output(xpu::Stream stream, const at::Tensor& host, const at::Tensor& output,
                  const Reduction* reduction) {
  bool direct = output.is_contiguous() && (!reduction || reduction->transport_type() == output.scalar_type());
  auto arrived = direct      ? output
                 : reduction ? at::empty(host.sizes(), output.options().dtype(reduction->transport_type()))
                             : at::empty(output.sizes(), output.options());
  copy_from_host(stream, arrived, host);
  if (reduction && !(direct && reduction->is_plain()))
    reduction->store(arrived, output);
  else if (!direct)
    output.copy_(arrived);
}

WorkPtr move_bytes(Group& group, Call call, Start start) {
  auto staged = std::make_shared<Staged>();
  Steps steps;
  auto contiguous = std::make_shared<Tensors>();
  if (!call.inputs.empty())
    steps.to_host = [staged, contiguous, inputs = alias(call.inputs)](xpu::Stream stream) {
      for (auto& input : inputs) {
        contiguous->push_back(input.contiguous());
        staged->inputs.push_back(host_bytes(static_cast<std::int64_t>(input.nbytes())));
        copy_to_host(stream, staged->inputs.back(), contiguous->back());
      }
    };
  steps.start = [staged, start = std::move(start), outputs = call.outputs](c10d::Backend& transport,
                                                                           milliseconds timeout) {
    if (staged->outputs.empty())
      for (auto& output : outputs)
        staged->outputs.push_back(host_bytes(static_cast<std::int64_t>(output.nbytes())));
    return start(transport, timeout, *staged);
  };
  steps.from_host = [staged, outputs = alias(call.outputs)](xpu::Stream stream) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      store_output(stream, staged->outputs[i], outputs[i], nullptr);
  };
  return group.enqueue(std::move(call), {std::move(steps)});
}

WorkPtr reduce_tensors(Group& group, Call call, const c10d::ReduceOp& op, bool in_place, bool keeps_result,
                       StartReduction start) {
  auto type = call.inputs.at(0).scalar_type();
  for (auto* list : {&call.inputs, &call.outputs})
    for (auto& tensor : *list)
      TORCH_CHECK_TYPE(tensor.scalar_type() == type, call.name, ": the tensors are of ", type, " and ",
                       tensor.scalar_type());
  auto reduction = std::make_shared<Reduction>(call.name, op, type, group.size);
  auto staged = std::make_shared<Staged>();
  auto prepared = std::make_shared<Tensors>();
  if (in_place && keeps_result) call.outputs = call.inputs;
  Steps steps;
  steps.to_host = [staged, prepared, reduction, inputs = alias(call.inputs)](xpu::Stream stream) {
    for (auto& input : inputs) {
      prepared->push_back(reduction->prepare(input));
      staged->inputs.push_back(host_buffer(prepared->back(), reduction->transport_type()));
      copy_to_host(stream, staged->inputs.back(), prepared->back());
    }
  };
  steps.start = [staged, reduction, in_place, start = std::move(start), outputs = call.outputs](
                    c10d::Backend& transport, milliseconds timeout) {
    if (in_place) {
      staged->outputs = staged->inputs;
    } else {
      for (auto& output : outputs) {
        auto sizes = output.sizes().vec();
        if (output.is_complex()) sizes.push_back(2);
        staged->outputs.push_back(
            at::empty(sizes, at::TensorOptions(reduction->transport_type()).pinned_memory(true)));
      }
    }
    return start(transport, timeout, *staged, reduction->transport_op());
  };
  steps.from_host = [staged, reduction, outputs = alias(call.outputs)](xpu::Stream stream) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      store_output(stream, staged->outputs[i], outputs[i], reduction.get());
  };
  return group.enqueue(std::move(call), {std::move(steps)});
}

}  // namespace torch_xpu::distributed
