// Collectives that reduce: all-reduce, reduce and reduce-scatter.
#include <utility>

#include "distributed/arguments.h"
#include "distributed/process_group.h"
#include "distributed/staged_collective.h"

namespace torch_xpu::distributed {

using c10d::OpType;

WorkPtr ProcessGroupXCCL::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  Call call{OpType::ALLREDUCE, "all_reduce", tensors, {}, device_of("all_reduce", tensors), options.timeout};
  auto start = [options](auto& transport, auto timeout, Staged& staged, auto op) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    auto with_op = with_timeout(options, timeout);
    with_op.reduceOp = op;
    return Works{transport.allreduce(staged.inputs, with_op)};
  };
  if (is_worth_pieces(tensors))
    return all_reduce_in_pieces(*group_, std::move(call), options.reduceOp, start);
  return reduce_tensors(*group_, std::move(call), options.reduceOp, true, true, start);
}

WorkPtr ProcessGroupXCCL::allreduce_coalesced(Tensors& tensors,
                                              const c10d::AllreduceCoalescedOptions& options) {
  Call call{OpType::ALLREDUCE_COALESCED,
            "all_reduce_coalesced",
            tensors,
            {},
            device_of("all_reduce_coalesced", tensors),
            options.timeout};
  return reduce_tensors(*group_, std::move(call), options.reduceOp, true, true,
                        [options](auto& transport, auto timeout, Staged& staged, auto op) {
                          c10d::AllreduceOptions each;
                          each.timeout = timeout;
                          each.reduceOp = op;
                          Works works;
                          for (auto& input : staged.inputs) {
                            Tensors one{input};
                            if (!is_empty(input)) works.push_back(transport.allreduce(one, each));
                          }
                          return works;
                        });
}

WorkPtr ProcessGroupXCCL::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  Call call{OpType::REDUCE, "reduce", tensors, {}, device_of("reduce", tensors), options.timeout};
  bool is_root = options.rootRank == rank_;
  return reduce_tensors(*group_, std::move(call), options.reduceOp, true, is_root,
                        [options](auto& transport, auto timeout, Staged& staged, auto op) {
                          if (is_empty(staged.inputs.at(0))) return Works{};
                          auto with_op = with_timeout(options, timeout);
                          with_op.reduceOp = op;
                          return Works{transport.reduce(staged.inputs, with_op)};
                        });
}

WorkPtr ProcessGroupXCCL::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                         const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK(outputs.size() == 1 && inputs.size() == 1,
              "reduce_scatter: expected one output and one input list");
  require_outputs("reduce_scatter", inputs[0].size(), size_);
  require_bytes("reduce_scatter", inputs[0][static_cast<std::size_t>(rank_)], outputs[0], 1);
  Call call{OpType::REDUCE_SCATTER,
            "reduce_scatter",
            inputs[0],
            outputs,
            device_of("reduce_scatter", inputs[0], outputs),
            options.timeout};
  // The parts may have different sizes, so each is reduced to its rank.
  return reduce_tensors(*group_, std::move(call), options.reduceOp, false, true,
                        [rank = rank_](auto& transport, auto timeout, Staged& staged, auto op) {
                          Works works;
                          for (std::size_t to = 0; to < staged.inputs.size(); ++to) {
                            if (is_empty(staged.inputs[to])) continue;
                            c10d::ReduceOptions each;
                            each.reduceOp = op;
                            each.rootRank = static_cast<std::int64_t>(to);
                            each.timeout = timeout;
                            Tensors one{staged.inputs[to]};
                            works.push_back(transport.reduce(one, each));
                          }
                          staged.outputs.at(0) = staged.inputs[static_cast<std::size_t>(rank)];
                          return works;
                        });
}

WorkPtr ProcessGroupXCCL::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                               const c10d::ReduceScatterOptions& options) {
  Tensors outputs{output}, inputs{input};
  require_bytes("reduce_scatter_tensor", input, output, size_);
  Call call{OpType::_REDUCE_SCATTER_BASE,
            "reduce_scatter_tensor",
            inputs,
            outputs,
            device_of("reduce_scatter_tensor", inputs, outputs),
            options.timeout};
  return reduce_tensors(*group_, std::move(call), options.reduceOp, false, true,
                        [options](auto& transport, auto timeout, Staged& staged, auto op) {
                          if (is_empty(staged.inputs.at(0))) return Works{};
                          auto with_op = with_timeout(options, timeout);
                          with_op.reduceOp = op;
                          auto out = staged.outputs.at(0).flatten(), in = staged.inputs.at(0).flatten();
                          return Works{transport._reduce_scatter_base(out, in, with_op)};
                        });
}

WorkPtr ProcessGroupXCCL::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                          const c10d::ReduceScatterOptions& options) {
  constexpr auto name = "reduce_scatter_tensor_coalesced";
  TORCH_CHECK(outputs.size() == inputs.size(), name, ": got ", inputs.size(), " inputs and ", outputs.size(),
              " outputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) require_bytes(name, inputs[i], outputs[i], size_);
  Call call{OpType::REDUCE_SCATTER_TENSOR_COALESCED, name,           inputs, outputs,
            device_of(name, inputs, outputs),        options.timeout};
  return reduce_tensors(*group_, std::move(call), options.reduceOp, false, true,
                        [options](auto& transport, auto timeout, Staged& staged, auto op) {
                          auto with_op = with_timeout(options, timeout);
                          with_op.reduceOp = op;
                          Works works;
                          for (std::size_t i = 0; i < staged.inputs.size(); ++i) {
                            if (is_empty(staged.inputs[i])) continue;
                            auto out = staged.outputs[i].flatten(), in = staged.inputs[i].flatten();
                            works.push_back(transport._reduce_scatter_base(out, in, with_op));
                          }
                          return works;
                        });
}

}  // namespace torch_xpu::distributed
