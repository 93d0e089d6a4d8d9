// c10d's operators for xpu tensors: they call the backend that the process group has for xpu.
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <chrono>
#include <tuple>
#include <vector>

namespace torch_xpu::distributed {
namespace {

using namespace c10d;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
using GroupPtr = c10::intrusive_ptr<ProcessGroup>;
using OpPtr = c10::intrusive_ptr<ReduceOp>;
using WorkPtr = c10::intrusive_ptr<Work>;
using std::chrono::milliseconds;

c10::intrusive_ptr<Backend> backend_of(const GroupPtr& group) {
  return group->getBackend(c10::DeviceType::XPU);
}

WorkPtr send(at::TensorList tensors, const GroupPtr& group, std::int64_t to, std::int64_t tag) {
  auto all = tensors.vec();
  return backend_of(group)->send(all, static_cast<int>(to), static_cast<int>(tag));
}

WorkPtr recv_(at::TensorList tensors, const GroupPtr& group, std::int64_t from, std::int64_t tag) {
  auto all = tensors.vec();
  return backend_of(group)->recv(all, static_cast<int>(from), static_cast<int>(tag));
}

WorkPtr recv_any_source_(at::TensorList tensors, const GroupPtr& group, std::int64_t tag) {
  auto all = tensors.vec();
  return backend_of(group)->recvAnysource(all, static_cast<int>(tag));
}

std::tuple<Tensors, WorkPtr> broadcast_(at::TensorList tensors, const GroupPtr& group, std::int64_t root,
                                        std::int64_t root_tensor, bool async_op, std::int64_t timeout) {
  auto all = tensors.vec();
  auto work = backend_of(group)->broadcast(all, {root, root_tensor, milliseconds(timeout), async_op});
  return {std::move(all), std::move(work)};
}

std::tuple<Tensors, WorkPtr> allreduce_(at::TensorList tensors, const GroupPtr& group, const OpPtr& op,
                                        const std::optional<at::Tensor>& sparse_indices, bool async_op,
                                        std::int64_t timeout) {
  TORCH_CHECK(!sparse_indices, "all_reduce: sparse indices are not supported on xpu");
  auto all = tensors.vec();
  auto work = backend_of(group)->allreduce(all, {*op, milliseconds(timeout), async_op});
  return {std::move(all), std::move(work)};
}

WorkPtr allreduce_coalesced_(at::TensorList tensors, const GroupPtr& group, const OpPtr& op, bool async_op,
                             std::int64_t timeout) {
  auto all = tensors.vec();
  AllreduceCoalescedOptions options;
  options.reduceOp = *op;
  options.timeout = milliseconds(timeout);
  options.asyncOp = async_op;
  return backend_of(group)->allreduce_coalesced(all, options);
}

WorkPtr reduce_(at::TensorList tensors, const GroupPtr& group, const OpPtr& op, std::int64_t root,
                std::int64_t root_tensor, bool async_op, std::int64_t timeout) {
  auto all = tensors.vec();
  return backend_of(group)->reduce(all, {*op, root, root_tensor, milliseconds(timeout), async_op});
}

std::tuple<Lists, WorkPtr> allgather_(const Lists& outputs, at::TensorList inputs, const GroupPtr& group,
                                      bool async_op, std::int64_t timeout) {
  auto to = outputs;
  auto from = inputs.vec();
  auto work = backend_of(group)->allgather(to, from, {milliseconds(timeout), async_op});
  return {std::move(to), std::move(work)};
}

std::tuple<at::Tensor, WorkPtr> allgather_base_(at::Tensor& output, at::Tensor& input, const GroupPtr& group,
                                                bool async_op, std::int64_t timeout) {
  auto work = backend_of(group)->_allgather_base(output, input, {milliseconds(timeout), async_op});
  return {output, std::move(work)};
}

WorkPtr allgather_coalesced_(const Lists& outputs, const at::TensorList& inputs, const GroupPtr& group,
                             bool async_op) {
  auto to = outputs;
  auto from = inputs.vec();
  return backend_of(group)->allgather_coalesced(to, from, {kUnsetTimeout, async_op});
}

WorkPtr allgather_into_tensor_coalesced_(at::TensorList outputs, at::TensorList inputs, const GroupPtr& group,
                                         bool async_op) {
  auto to = outputs.vec(), from = inputs.vec();
  return backend_of(group)->allgather_into_tensor_coalesced(to, from, {kUnsetTimeout, async_op});
}

std::tuple<Tensors, WorkPtr> reduce_scatter_(const at::TensorList& outputs, const Lists& inputs,
                                             const GroupPtr& group, const OpPtr& op, bool async_op,
                                             std::int64_t timeout) {
  auto to = outputs.vec();
  auto from = inputs;
  auto work = backend_of(group)->reduce_scatter(to, from, {*op, milliseconds(timeout), async_op});
  return {std::move(to), std::move(work)};
}

std::tuple<at::Tensor, WorkPtr> reduce_scatter_base_(at::Tensor& output, at::Tensor& input,
                                                     const GroupPtr& group, const OpPtr& op, bool async_op,
                                                     std::int64_t timeout) {
  auto work = backend_of(group)->_reduce_scatter_base(output, input, {*op, milliseconds(timeout), async_op});
  return {output, std::move(work)};
}

WorkPtr reduce_scatter_tensor_coalesced_(at::TensorList outputs, at::TensorList inputs, const GroupPtr& group,
                                         const OpPtr& op, bool async_op, std::int64_t timeout) {
  auto to = outputs.vec(), from = inputs.vec();
  return backend_of(group)->reduce_scatter_tensor_coalesced(to, from, {*op, milliseconds(timeout), async_op});
}

WorkPtr gather_(const Lists& outputs, const at::TensorList& inputs, const GroupPtr& group, std::int64_t root,
                bool async_op, std::int64_t timeout) {
  auto to = outputs;
  auto from = inputs.vec();
  return backend_of(group)->gather(to, from, {root, milliseconds(timeout), async_op});
}

std::tuple<Tensors, WorkPtr> scatter_(const at::TensorList& outputs, const Lists& inputs,
                                      const GroupPtr& group, std::int64_t root, bool async_op,
                                      std::int64_t timeout) {
  auto to = outputs.vec();
  auto from = inputs;
  auto work = backend_of(group)->scatter(to, from, {root, milliseconds(timeout), async_op});
  return {std::move(to), std::move(work)};
}

std::tuple<Tensors, WorkPtr> alltoall_(const at::TensorList& outputs, const at::TensorList& inputs,
                                       const GroupPtr& group, bool async_op, std::int64_t timeout) {
  auto to = outputs.vec(), from = inputs.vec();
  auto work = backend_of(group)->alltoall(to, from, {milliseconds(timeout), async_op});
  return {std::move(to), std::move(work)};
}

WorkPtr alltoall_base_(at::Tensor& output, at::Tensor& input, const GroupPtr& group,
                       std::vector<std::int64_t> output_splits, std::vector<std::int64_t> input_splits,
                       bool async_op, std::int64_t timeout) {
  return backend_of(group)->alltoall_base(output, input, output_splits, input_splits,
                                          {milliseconds(timeout), async_op});
}

WorkPtr barrier(at::Tensor tensor, const GroupPtr& group, const std::vector<std::int64_t>& devices,
                bool async_op, std::int64_t timeout) {
  BarrierOptions options;
  options.device_ids = devices;
  options.timeout = milliseconds(timeout);
  options.device = tensor.device();
  options.asyncOp = async_op;
  return backend_of(group)->barrier(options);
}

}  // namespace

TORCH_LIBRARY_IMPL(c10d, XPU, m) {
  m.impl("send", send);
  m.impl("recv_", recv_);
  m.impl("recv_any_source_", recv_any_source_);
  m.impl("broadcast_", broadcast_);
  m.impl("allreduce_", allreduce_);
  m.impl("allreduce_coalesced_", allreduce_coalesced_);
  m.impl("reduce_", reduce_);
  m.impl("allgather_", allgather_);
  m.impl("_allgather_base_", allgather_base_);
  m.impl("allgather_coalesced_", allgather_coalesced_);
  m.impl("allgather_into_tensor_coalesced_", allgather_into_tensor_coalesced_);
  m.impl("reduce_scatter_", reduce_scatter_);
  m.impl("_reduce_scatter_base_", reduce_scatter_base_);
  m.impl("reduce_scatter_tensor_coalesced_", reduce_scatter_tensor_coalesced_);
  m.impl("gather_", gather_);
  m.impl("scatter_", scatter_);
  m.impl("alltoall_", alltoall_);
  m.impl("alltoall_base_", alltoall_base_);
  m.impl("barrier", barrier);
}

}  // namespace torch_xpu::distributed
