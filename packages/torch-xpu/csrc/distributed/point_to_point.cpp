// Sends and receives.
#include <utility>

#include "distributed/arguments.h"
#include "distributed/process_group.h"
#include "distributed/staged_collective.h"

namespace torch_xpu::distributed {

using c10d::OpType;

WorkPtr ProcessGroupXCCL::send(Tensors& tensors, int to, int tag) {
  TORCH_CHECK(tensors.size() == 1, "send: expected one tensor, got ", tensors.size());
  Call call{OpType::SEND, "send", tensors, {}, device_of("send", tensors)};
  call.peer = to;
  auto* self = to == rank_ ? &group_->self_transfers() : nullptr;
  return move_bytes(*group_, std::move(call), [to, tag, self](auto& transport, auto, Staged& staged) {
    if (is_empty(staged.inputs.at(0))) return Works{};
    if (!self) return Works{transport.send(staged.inputs, to, tag)};
    self->send(staged.inputs[0], tag);
    return Works{};
  });
}

WorkPtr ProcessGroupXCCL::recv(Tensors& tensors, int from, int tag) {
  TORCH_CHECK(tensors.size() == 1, "recv: expected one tensor, got ", tensors.size());
  Call call{OpType::RECV, "recv", {}, tensors, device_of("recv", tensors)};
  call.peer = from;
  auto* self = from == rank_ ? &group_->self_transfers() : nullptr;
  return move_bytes(*group_, std::move(call), [from, tag, self](auto& transport, auto, Staged& staged) {
    if (is_empty(staged.outputs.at(0))) return Works{};
    return Works{self ? self->recv(staged.outputs[0], tag) : transport.recv(staged.outputs, from, tag)};
  });
}

WorkPtr ProcessGroupXCCL::recvAnysource(Tensors& tensors, int tag) {
  TORCH_CHECK(tensors.size() == 1, "recv: expected one tensor, got ", tensors.size());
  Call call{OpType::RECVANYSOURCE, "recvAnySource", {}, tensors, device_of("recv", tensors)};
  return move_bytes(*group_, std::move(call), [tag](auto& transport, auto, Staged& staged) {
    TORCH_CHECK(!is_empty(staged.outputs.at(0)), "recv: a tensor without elements needs a source rank");
    return Works{transport.recvAnysource(staged.outputs, tag)};
  });
}

}  // namespace torch_xpu::distributed
