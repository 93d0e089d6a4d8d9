#include "distributed/oneccl/transport.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "distributed/lane.h"
#include "distributed/oneccl/library.h"

namespace torch_xpu::distributed::oneccl {

using c10d::OpType;

namespace {

class TransportWork final : public c10d::Work {
 public:
  using Work::Work;
  void complete(std::exception_ptr error) { finish(std::move(error)); }
};

Lane& calling_thread() {
  static auto& instance = *new Lane;  // a call may hang while the process ends
  return instance;
}

std::size_t bytes_of(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_cpu() && tensor.is_contiguous(), "oneCCL's transport takes contiguous CPU tensors");
  return tensor.nbytes();
}

}  // namespace

/// The communicator, used by the calling thread alone. It may live longer than the transport.
class Session {
 public:
  Session(c10::intrusive_ptr<c10d::Store> store, int rank, int size)
      : store_(std::move(store)), rank_(rank), size_(size) {}

  /// Connects the ranks the first time. Throws DistBackendError after abort().
  Comm communicator() {
    if (is_aborted_) C10_THROW_ERROR(DistBackendError, "oneCCL: the group was aborted");
    if (!comm_) connect();
    return comm_;
  }
  void abort() { is_aborted_ = true; }
  void close() {
    if (!comm_) return;
    CallScope scope;
    library().destroy(std::exchange(comm_, nullptr));
  }

 private:
  void connect() {
    UniqueId id;
    if (rank_ == 0) {
      {
        CallScope scope;
        require_success("onecclGetUniqueId", library().get_unique_id(&id));
      }
      store_->set("oneccl", std::vector<std::uint8_t>(id.data, id.data + sizeof id.data));
    } else {
      auto value = store_->get("oneccl");
      TORCH_CHECK(value.size() == sizeof id.data, "oneCCL: rank 0 sent an address of another version");
      std::memcpy(id.data, value.data(), sizeof id.data);
    }
    CallScope scope;
    require_success("onecclCommInitRank",
                    library().init_rank(&comm_, static_cast<std::size_t>(size_), id, rank_));
  }

  const c10::intrusive_ptr<c10d::Store> store_;
  const int rank_, size_;
  std::atomic<bool> is_aborted_{false};
  Comm comm_ = nullptr;
};

Transport::Transport(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                     c10::intrusive_ptr<c10d::Backend> gloo, std::chrono::milliseconds timeout)
    : Backend(rank, size),
      gloo_(std::move(gloo)),
      session_(std::make_shared<Session>(std::move(store), rank, size)) {
  library();
  start(OpType::UNKNOWN, [](Comm) {})->wait(timeout);
}

Transport::~Transport() {
  session_->abort();
  calling_thread().enqueue([session = std::move(session_)] { session->close(); });
}

void Transport::abort() {
  session_->abort();
  gloo_->abort();
}

Transport::WorkPtr Transport::start(OpType type, std::function<void(Comm)> call) {
  auto work = c10::make_intrusive<TransportWork>(rank_, type);
  calling_thread().enqueue([session = session_, work, call = std::move(call)] {
    try {
      auto comm = session->communicator();
      {
        CallScope scope;
        call(comm);
      }
      work->complete(nullptr);
    } catch (...) {
      work->complete(std::current_exception());
    }
  });
  return work;
}

Transport::WorkPtr Transport::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  auto tensor = tensors.at(0);
  return start(OpType::BROADCAST,
               [tensor, bytes = bytes_of(tensor), root = static_cast<int>(options.rootRank)](Comm comm) {
                 auto* data = tensor.data_ptr();
                 require_success("onecclBroadcast",
                                 library().broadcast(data, data, bytes, byte_type, root, comm, nullptr));
               });
}

Transport::WorkPtr Transport::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  auto tensor = tensors.at(0);
  auto type = type_of(tensor.scalar_type()), op = op_of(options.reduceOp);
  if (!type || !op) return gloo_->allreduce(tensors, options);
  bytes_of(tensor);
  return start(OpType::ALLREDUCE, [tensor, type = *type, op = *op](Comm comm) {
    auto* data = tensor.data_ptr();
    auto count = static_cast<std::size_t>(tensor.numel());
    require_success("onecclAllReduce", library().all_reduce(data, data, count, type, op, comm, nullptr));
  });
}

Transport::WorkPtr Transport::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  auto tensor = tensors.at(0);
  auto type = type_of(tensor.scalar_type()), op = op_of(options.reduceOp);
  if (!type || !op) return gloo_->reduce(tensors, options);
  bytes_of(tensor);
  return start(
      OpType::REDUCE, [tensor, type = *type, op = *op, root = static_cast<int>(options.rootRank)](Comm comm) {
        auto* data = tensor.data_ptr();
        auto count = static_cast<std::size_t>(tensor.numel());
        require_success("onecclReduce", library().reduce(data, data, count, type, op, root, comm, nullptr));
      });
}

Transport::WorkPtr Transport::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                        const c10d::AllgatherOptions&) {
  auto input = inputs.at(0);
  auto parts = outputs.at(0);
  auto bytes = bytes_of(input);
  for (auto& part : parts) TORCH_CHECK(bytes_of(part) == bytes, "oneCCL: all_gather has unequal sizes");
  return start(OpType::ALLGATHER, [input, parts, bytes](Comm comm) {
    auto all = at::empty({static_cast<std::int64_t>(bytes * parts.size())}, at::kByte);
    auto* data = all.data_ptr<std::uint8_t>();
    require_success("onecclAllGather",
                    library().all_gather(input.data_ptr(), data, bytes, byte_type, comm, nullptr));
    for (auto& part : parts) {
      std::memcpy(part.data_ptr(), data, bytes);
      data += bytes;
    }
  });
}

Transport::WorkPtr Transport::_allgather_base(at::Tensor& output, at::Tensor& input,
                                              const c10d::AllgatherOptions&) {
  auto bytes = bytes_of(input);
  TORCH_CHECK(bytes_of(output) == bytes * static_cast<std::size_t>(size_), "oneCCL: unequal sizes");
  return start(OpType::_ALLGATHER_BASE, [output, input, bytes](Comm comm) {
    require_success("onecclAllGather", library().all_gather(input.data_ptr(), output.data_ptr(), bytes,
                                                            byte_type, comm, nullptr));
  });
}

Transport::WorkPtr Transport::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                   const c10d::ReduceScatterOptions& options) {
  auto type = type_of(input.scalar_type()), op = op_of(options.reduceOp);
  if (!type || !op) return gloo_->_reduce_scatter_base(output, input, options);
  TORCH_CHECK(bytes_of(input) == bytes_of(output) * static_cast<std::size_t>(size_), "oneCCL: unequal sizes");
  return start(OpType::_REDUCE_SCATTER_BASE, [output, input, type = *type, op = *op](Comm comm) {
    auto count = static_cast<std::size_t>(output.numel());
    require_success("onecclReduceScatter", library().reduce_scatter(input.data_ptr(), output.data_ptr(),
                                                                    count, type, op, comm, nullptr));
  });
}

Transport::WorkPtr Transport::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::GatherOptions& options) {
  return gloo_->gather(outputs, inputs, options);
}
Transport::WorkPtr Transport::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                      const c10d::ScatterOptions& options) {
  return gloo_->scatter(outputs, inputs, options);
}
// A rank cannot tell whether the splits of all ranks are equal, as oneCCL's all-to-all needs them.
Transport::WorkPtr Transport::alltoall_base(at::Tensor& output, at::Tensor& input,
                                            std::vector<std::int64_t>& output_splits,
                                            std::vector<std::int64_t>& input_splits,
                                            const c10d::AllToAllOptions& options) {
  return gloo_->alltoall_base(output, input, output_splits, input_splits, options);
}
Transport::WorkPtr Transport::send(Tensors& tensors, int to, int tag) {
  return gloo_->send(tensors, to, tag);
}
Transport::WorkPtr Transport::recv(Tensors& tensors, int from, int tag) {
  return gloo_->recv(tensors, from, tag);
}
Transport::WorkPtr Transport::recvAnysource(Tensors& tensors, int tag) {
  return gloo_->recvAnysource(tensors, tag);
}
Transport::WorkPtr Transport::barrier(const c10d::BarrierOptions& options) {
  return gloo_->barrier(options);
}

}  // namespace torch_xpu::distributed::oneccl
