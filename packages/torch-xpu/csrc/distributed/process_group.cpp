#include "distributed/process_group.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "distributed/group.h"
#include "distributed/reduction.h"
#include "distributed/staging.h"
#include "xpu/device.h"

namespace torch_xpu::distributed {
namespace {

using std::chrono::milliseconds;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Works = std::vector<WorkPtr>;
using c10d::Backend;
using c10d::OpType;

/// Host tensors of a collective, made on the lane.
struct Staged {
  Tensors inputs, outputs;
};
using Start = std::function<Works(Backend&, milliseconds, Staged&)>;

at::Device device_of(const char* name, const Tensors& first, const Tensors& second = {}) {
  const auto& tensors = first.empty() ? second : first;
  TORCH_CHECK(!tensors.empty(), name, ": got no tensors");
  auto device = tensors.front().device();
  for (auto* list : {&first, &second}) {
    for (auto& tensor : *list) {
      TORCH_CHECK(tensor.device() == device && device.is_xpu(), name,
                  ": all tensors must be on one xpu device, got ", device, " and ", tensor.device());
      TORCH_CHECK(tensor.layout() == at::kStrided, name, ": got a tensor of layout ", tensor.layout(),
                  "; collectives of xpu need dense ones");
    }
  }
  return device;
}

Tensors flatten(const std::vector<Tensors>& lists) {
  Tensors all;
  for (auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Enqueues a copy from the host to a tensor of any strides, through `reduction` if there is one.
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

/// A collective that only moves bytes, so that every type will do.
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
  steps.start = [staged, start = std::move(start), outputs = call.outputs](Backend& transport,
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
  return group.enqueue(std::move(call), std::move(steps));
}

using StartReduction = std::function<Works(Backend&, milliseconds, Staged&, c10d::ReduceOp)>;

/// A collective that reduces. Without outputs of its own it changes the inputs; `keeps_result` says whether
/// this rank gets them.
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
                    Backend& transport, milliseconds timeout) {
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
  return group.enqueue(std::move(call), std::move(steps));
}

// A tensor without elements needs no transport, and transports do not take all of them.
bool is_empty(const at::Tensor& host) {
  return host.numel() == 0;
}

template <class Options>
Options with_timeout(Options options, milliseconds timeout) {
  options.timeout = timeout;
  return options;
}

// Chunks of dimension 0 become numbers of bytes.
std::vector<std::int64_t> byte_splits(const at::Tensor& tensor, const std::vector<std::int64_t>& splits,
                                      int ranks, const char* which) {
  auto bytes = static_cast<std::int64_t>(tensor.nbytes());
  if (splits.empty()) {
    TORCH_CHECK(tensor.dim() > 0 && tensor.size(0) % ranks == 0, "all_to_all_single: dimension 0 of the ",
                which, ", of sizes ", tensor.sizes(), ", does not divide by ", ranks, " ranks");
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), bytes / ranks);
  }
  std::int64_t rows = 0;
  for (auto split : splits) rows += split;
  TORCH_CHECK(splits.size() == static_cast<std::size_t>(ranks) && tensor.dim() > 0 && rows == tensor.size(0),
              "all_to_all_single: the ", which, " splits ", splits, " are not of dimension 0 of sizes ",
              tensor.sizes(), " for ", ranks, " ranks");
  auto row = tensor.size(0) ? bytes / tensor.size(0) : 0;
  std::vector<std::int64_t> of_bytes;
  for (auto split : splits) of_bytes.push_back(split * row);
  return of_bytes;
}

void require_outputs(const char* name, std::size_t count, int ranks) {
  TORCH_CHECK(count == static_cast<std::size_t>(ranks), name, ": got ", count, " tensors for ", ranks,
              " ranks");
}

void require_bytes(const char* name, const at::Tensor& large, const at::Tensor& small, int ranks) {
  TORCH_CHECK_TYPE(large.scalar_type() == small.scalar_type(), name, ": the tensors are of ",
                   large.scalar_type(), " and ", small.scalar_type());
  TORCH_CHECK(large.numel() == small.numel() * ranks, name, ": got tensors of ", large.numel(), " and ",
              small.numel(), " elements; the first must have ", ranks, " times as many, one part for a rank");
}

}  // namespace

ProcessGroupXCCL::ProcessGroupXCCL(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                   c10::intrusive_ptr<Options> options,
                                   c10::intrusive_ptr<c10d::Backend> transport, std::string name)
    : Backend(rank, size),
      name_(std::move(name)),
      options_(std::move(options)),
      group_(Group::make(store, rank, size, name_, std::move(transport), options_->timeout)) {
  group_->set_label(options_->group_name);
}

ProcessGroupXCCL::~ProcessGroupXCCL() {
  group_->abort();
}

void ProcessGroupXCCL::setTimeout(milliseconds timeout) {
  options_->timeout = timeout;
  group_->set_timeout(timeout);
}
void ProcessGroupXCCL::startCoalescing() {
  group_->start_coalescing();
}
WorkPtr ProcessGroupXCCL::endCoalescing() {
  return group_->end_coalescing();
}
std::uint64_t ProcessGroupXCCL::getSequenceNumberForGroup() {
  return group_->sequence_number();
}
c10d::ErrorType ProcessGroupXCCL::getError() {
  return group_->error();
}
void ProcessGroupXCCL::abort() {
  group_->abort();
}
void ProcessGroupXCCL::shutdown() {
  group_->close();
}

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

WorkPtr ProcessGroupXCCL::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  Call call{OpType::ALLREDUCE, "all_reduce", tensors, {}, device_of("all_reduce", tensors), options.timeout};
  return reduce_tensors(*group_, std::move(call), options.reduceOp, true, true,
                        [options](auto& transport, auto timeout, Staged& staged, auto op) {
                          if (is_empty(staged.inputs.at(0))) return Works{};
                          auto with_op = with_timeout(options, timeout);
                          with_op.reduceOp = op;
                          return Works{transport.allreduce(staged.inputs, with_op)};
                        });
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

WorkPtr ProcessGroupXCCL::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                    const c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == 1 && inputs.size() == 1,
              "all_gather: expected one input and one output list");
  require_outputs("all_gather", outputs[0].size(), size_);
  for (auto& output : outputs[0]) require_bytes("all_gather", output, inputs[0], 1);
  Call call{OpType::ALLGATHER, "all_gather", inputs, outputs[0], device_of("all_gather", inputs, outputs[0]),
            options.timeout};
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
  auto all = flatten(outputs);
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

WorkPtr ProcessGroupXCCL::alltoall_base(at::Tensor& output, at::Tensor& input,
                                        std::vector<std::int64_t>& output_splits,
                                        std::vector<std::int64_t>& input_splits,
                                        const c10d::AllToAllOptions& options) {
  Tensors outputs{output}, inputs{input};
  TORCH_CHECK_TYPE(output.scalar_type() == input.scalar_type(), "all_to_all_single: the tensors are of ",
                   input.scalar_type(), " and ", output.scalar_type());
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

WorkPtr ProcessGroupXCCL::send(Tensors& tensors, int to, int tag) {
  TORCH_CHECK(tensors.size() == 1, "send: expected one tensor, got ", tensors.size());
  Call call{OpType::SEND, "send", tensors, {}, device_of("send", tensors)};
  call.peer = to;
  return move_bytes(*group_, std::move(call), [to, tag](auto& transport, auto, Staged& staged) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    return Works{transport.send(staged.inputs, to, tag)};
  });
}

WorkPtr ProcessGroupXCCL::recv(Tensors& tensors, int from, int tag) {
  TORCH_CHECK(tensors.size() == 1, "recv: expected one tensor, got ", tensors.size());
  Call call{OpType::RECV, "recv", {}, tensors, device_of("recv", tensors)};
  call.peer = from;
  return move_bytes(*group_, std::move(call), [from, tag](auto& transport, auto, Staged& staged) {
    if (is_empty(staged.outputs.at(0))) return Works{};
    return Works{transport.recv(staged.outputs, from, tag)};
  });
}

WorkPtr ProcessGroupXCCL::recvAnysource(Tensors& tensors, int tag) {
  TORCH_CHECK(tensors.size() == 1, "recv: expected one tensor, got ", tensors.size());
  Call call{OpType::RECVANYSOURCE, "recv", {}, tensors, device_of("recv", tensors)};
  return move_bytes(*group_, std::move(call), [tag](auto& transport, auto, Staged& staged) {
    TORCH_CHECK(!is_empty(staged.outputs.at(0)), "recv: a tensor without elements needs a source rank");
    return Works{transport.recvAnysource(staged.outputs, tag)};
  });
}

WorkPtr ProcessGroupXCCL::barrier(const c10d::BarrierOptions& options) {
  auto index = options.device_ids.empty() ? xpu::current_device() : static_cast<int>(options.device_ids[0]);
  auto device = options.device && options.device->has_index()
                    ? *options.device
                    : at::Device(at::kXPU, static_cast<at::DeviceIndex>(index));
  Call call{OpType::BARRIER, "barrier", {}, {}, device, options.timeout};
  Steps steps;
  steps.to_host = [](xpu::Stream) {};  // so that it waits for the caller's stream
  steps.start = [](Backend& transport, milliseconds timeout) {
    c10d::BarrierOptions options;
    options.timeout = timeout;
    return Works{transport.barrier(options)};
  };
  return group_->enqueue(std::move(call), std::move(steps));
}

}  // namespace torch_xpu::distributed
