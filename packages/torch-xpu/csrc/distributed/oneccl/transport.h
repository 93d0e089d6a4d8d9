// The transport of oneCCL: a c10d backend of CPU tensors. What oneCCL lacks goes to a gloo group.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch_xpu::distributed::oneccl {

class Session;

/// Calls return at once; collectives of oneCCL run in their order on the one thread of the process that calls
/// oneCCL, which crashes when two threads use two communicators. So a process has one transport at a time.
/// Which of the two engines runs a collective depends on its kind, type and reduction alone, which all ranks
/// have in common. A rank that ends is not noticed: the others' waits time out.
class Transport final : public c10d::Backend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// Waits for all ranks, which connect. load() must have been called.
  Transport(c10::intrusive_ptr<c10d::Store> store, int rank, int size, c10::intrusive_ptr<c10d::Backend> gloo,
            std::chrono::milliseconds timeout);
  /// Never blocks: the thread gives the communicator back.
  ~Transport() override;

  const std::string getBackendName() const override { return "oneccl"; }
  /// Fails collectives that have not begun. One that has begun cannot be ended.
  void abort() override;

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;

  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                  const c10d::ScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                        std::vector<std::int64_t>& input_splits,
                        const c10d::AllToAllOptions& options) override;
  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

 private:
  WorkPtr start(c10d::OpType type, std::function<void(void* comm)> call);

  const c10::intrusive_ptr<c10d::Backend> gloo_;
  std::shared_ptr<Session> session_;
};

}  // namespace torch_xpu::distributed::oneccl
