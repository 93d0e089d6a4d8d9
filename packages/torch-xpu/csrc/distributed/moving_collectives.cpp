// Collectives that move tensors of any type: broadcast, gathers, scatter and all-to-all.
#include <ATen/ops/cat.h>

#include <utility>

#include "distributed/arguments.h"
#include "distributed/process_group.h"
#include "distributed/staged_collective.h"
#include "distributed/staging.h"

namespace torch_xpu::distributed {

using c10d::OpType;

namespace {

// Gathers tensors of different sizes, which transports do not: each rank broadcasts its own.
Start broadcast_each(int rank) {
  return [own = static_cast<std::size_t>(rank)](auto& transport, auto timeout, Staged& staged) {
    staged.outputs.at(own) = staged.inputs.at(0);
    Works works;
    for (std::size_t from = 0; from < staged.outputs.size(); ++from) {
      if (is_empty(staged.outputs[from])) continue;
      c10d::BroadcastOptions each;
      each.rootRank = static_cast<std::int64_t>(from);
      each.timeout = timeout;
      Tensors one{staged.outputs[from]};
      works.push_back(transport.broadcast(one, each));
    }
    return works;
  };
}

}  // namespace

WorkPtr ProcessGroupXCCL::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  auto device = device_of("broadcast", tensors);
  bool is_root = options.rootRank == rank_;
  Call call{
      OpType::BROADCAST, "broadcast", is_root ? tensors : Tensors{}, is_root ? Tensors{} : tensors, device,
      options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    auto& tensors = staged.inputs.empty() ? staged.outputs : staged.inputs;
    if (is_empty(tensors.at(0))) return Works{};
    return Works{transport.broadcast(tensors, with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                    const c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == 1 && inputs.size() == 1,
              "all_gather: expected one input and one output list");
  require_outputs("all_gather", outputs[0].size(), size_);
  require_bytes("all_gather", outputs[0][static_cast<std::size_t>(rank_)], inputs[0], 1);
  bool has_one_size = true;
  for (auto& output : outputs[0]) {
    require_type("all_gather", output, inputs[0]);
    has_one_size &= output.numel() == inputs[0].numel();
  }
  Call call{OpType::ALLGATHER, "all_gather", inputs, outputs[0], device_of("all_gather", inputs, outputs[0]),
            options.timeout};
  if (!has_one_size) return move_bytes(*group_, std::move(call), broadcast_each(rank_));
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    std::vector<Tensors> lists{staged.outputs};
    return Works{transport.allgather(lists, staged.inputs, with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::_allgather_base(at::Tensor& output, at::Tensor& input,
                                          const c10d::AllgatherOptions& options) {
  Tensors outputs{output}, inputs{input};
  require_bytes("all_gather_into_tensor", output, input, size_);
  Call call{OpType::_ALLGATHER_BASE,
            "all_gather_into_tensor",
            inputs,
            outputs,
            device_of("all_gather_into_tensor", inputs, outputs),
            options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    return Works{
        transport._allgather_base(staged.outputs.at(0), staged.inputs.at(0), with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& options) {
  Tensors all;
  for (auto& list : outputs) all.insert(all.end(), list.begin(), list.end());
  auto ranks = static_cast<std::size_t>(size_);
  auto count = inputs.size();
  // One list for each rank, of one output for each input.
  TORCH_CHECK(outputs.size() == ranks && all.size() == ranks * count,
              "all_gather_coalesced: expected a list of ", count, " outputs for each of ", size_, " ranks");
  Call call{OpType::ALLGATHER_COALESCED,
            "all_gather_coalesced",
            inputs,
            all,
            device_of("all_gather_coalesced", inputs, all),
            options.timeout};
  return move_bytes(*group_, std::move(call), [=](auto& transport, auto timeout, Staged& staged) {
    Works works;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_empty(staged.inputs[i])) continue;
      std::vector<Tensors> lists(1);
      for (std::size_t rank = 0; rank < ranks; ++rank) lists[0].push_back(staged.outputs[rank * count + i]);
      Tensors one{staged.inputs[i]};
      works.push_back(transport.allgather(lists, one, with_timeout(options, timeout)));
    }
    return works;
  });
}

WorkPtr ProcessGroupXCCL::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                          const c10d::AllgatherOptions& options) {
  constexpr auto name = "all_gather_into_tensor_coalesced";
  TORCH_CHECK(outputs.size() == inputs.size(), name, ": got ", inputs.size(), " inputs and ", outputs.size(),
              " outputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) require_bytes(name, outputs[i], inputs[i], size_);
  Call call{OpType::COALESCED, name, inputs, outputs, device_of(name, inputs, outputs), options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    Works works;
    for (std::size_t i = 0; i < staged.inputs.size(); ++i)
      if (!is_empty(staged.inputs[i]))
        works.push_back(
            transport._allgather_base(staged.outputs[i], staged.inputs[i], with_timeout(options, timeout)));
    return works;
  });
}

WorkPtr ProcessGroupXCCL::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                 const c10d::GatherOptions& options) {
  bool is_root = options.rootRank == rank_;
  TORCH_CHECK(inputs.size() == 1 && outputs.size() == (is_root ? 1 : 0),
              "gather: expected one input, and an output list on the root only");
  auto all = is_root ? outputs[0] : Tensors{};
  if (is_root) require_outputs("gather", all.size(), size_);
  for (auto& output : all) require_bytes("gather", output, inputs[0], 1);
  Call call{OpType::GATHER, "gather", inputs, all, device_of("gather", inputs, all), options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    std::vector<Tensors> lists;
    if (!staged.outputs.empty()) lists.push_back(staged.outputs);
    return Works{transport.gather(lists, staged.inputs, with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                  const c10d::ScatterOptions& options) {
  bool is_root = options.rootRank == rank_;
  TORCH_CHECK(outputs.size() == 1 && inputs.size() == (is_root ? 1 : 0),
              "scatter: expected one output, and an input list on the root only");
  auto all = is_root ? inputs[0] : Tensors{};
  if (is_root) require_outputs("scatter", all.size(), size_);
  for (auto& input : all) require_bytes("scatter", input, outputs[0], 1);
  Call call{OpType::SCATTER, "scatter", all, outputs, device_of("scatter", outputs, all), options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    if (is_empty(staged.outputs.at(0))) return Works{};
    std::vector<Tensors> lists;
    if (!staged.inputs.empty()) lists.push_back(staged.inputs);
    return Works{transport.scatter(staged.outputs, lists, with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::alltoall_base(at::Tensor& output, at::Tensor& input,
                                        std::vector<std::int64_t>& output_splits,
                                        std::vector<std::int64_t>& input_splits,
                                        const c10d::AllToAllOptions& options) {
  Tensors outputs{output}, inputs{input};
  require_type("all_to_all_single", input, output);
  auto to = byte_splits(output, output_splits, size_, "output");
  auto from = byte_splits(input, input_splits, size_, "input");
  Call call{OpType::ALLTOALL_BASE,
            "all_to_all_single",
            inputs,
            outputs,
            device_of("all_to_all_single", inputs, outputs),
            options.timeout};
  return move_bytes(*group_, std::move(call), [=](auto& transport, auto timeout, Staged& staged) mutable {
    return Works{transport.alltoall_base(staged.outputs.at(0), staged.inputs.at(0), to, from,
                                         with_timeout(options, timeout))};
  });
}

WorkPtr ProcessGroupXCCL::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  require_outputs("all_to_all", outputs.size(), size_);
  require_outputs("all_to_all", inputs.size(), size_);
  Call call{OpType::ALLTOALL, "all_to_all", inputs, outputs, device_of("all_to_all", inputs, outputs),
            options.timeout};
  return move_bytes(*group_, std::move(call), [options](auto& transport, auto timeout, Staged& staged) {
    auto sizes_of = [](const Tensors& tensors) {
      std::vector<std::int64_t> sizes;
      for (auto& tensor : tensors) sizes.push_back(tensor.numel());
      return sizes;
    };
    auto from = sizes_of(staged.inputs), to = sizes_of(staged.outputs);
    PackedBytes packed(staged.outputs);
    for (std::size_t i = 0; i < to.size(); ++i) staged.outputs[i] = packed.part(i);
    auto all_inputs = at::cat(staged.inputs), all_outputs = packed.all();
    return Works{transport.alltoall_base(all_outputs, all_inputs, to, from, with_timeout(options, timeout))};
  });
}

}  // namespace torch_xpu::distributed
