// A collective through host memory: what is enqueued on the group to copy tensors to the host, call the
// transport on the copies, and store what arrives.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <chrono>
#include <functional>
#include <vector>

#include "distributed/group.h"

namespace torch_xpu::distributed {

class Reduction;

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Works = std::vector<WorkPtr>;

/// Host tensors of a collective, made on the lane.
struct Staged {
  Tensors inputs, outputs;
};

/// Starts the transport on the host's tensors.
using Start = std::function<Works(c10d::Backend&, std::chrono::milliseconds, Staged&)>;
using StartReduction =
    std::function<Works(c10d::Backend&, std::chrono::milliseconds, Staged&, c10d::ReduceOp)>;

/// Enqueues a collective that only moves bytes, so that every type will do. The host's tensors are of bytes.
WorkPtr move_bytes(Group& group, Call call, Start start);

/// Enqueues a collective that reduces. Without outputs of its own (`in_place`) it changes the inputs;
/// `keeps_result` says whether this rank gets them.
WorkPtr reduce_tensors(Group& group, Call call, const c10d::ReduceOp& op, bool in_place, bool keeps_result,
                       StartReduction start);

/// Enqueues an all-reduce of one tensor, which the host copies and sends in pieces.
WorkPtr all_reduce_in_pieces(Group& group, Call call, const c10d::ReduceOp& op, StartReduction start);
/// Returns true if all_reduce_in_pieces() is faster; ranks agree, as they agree on sizes.
bool is_worth_pieces(const Tensors& tensors);

/// Enqueues a copy from the host to a tensor of any strides, through `reduction` if there is one.
void store_output(xpu::Stream stream, const at::Tensor& host, const at::Tensor& output,
                  const Reduction* reduction);

/// Returns true for a tensor without elements: it needs no transport, and transports do not take all of them.
inline bool is_empty(const at::Tensor& host) {
  return host.numel() == 0;
}

/// Returns c10d's options of a collective, with the timeout that the group has found.
template <class Options>
Options with_timeout(Options options, std::chrono::milliseconds timeout) {
  options.timeout = timeout;
  return options;
}

}  // namespace torch_xpu::distributed
