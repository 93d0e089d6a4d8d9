// One collective: what the program waits for.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "distributed/lane.h"
#include "xpu/host_signal.h"

namespace torch_xpu::distributed {

using Tensors = std::vector<at::Tensor>;

/// Thread-safe. The results are complete, on the device too, when the work is.
class StagedWork final : public c10d::Work {
 public:
  using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

  /// `description` names the rank, the group, the collective, its number and its sizes.
  StagedWork(int rank, c10d::OpType type, const std::string& title, std::string description,
             std::uint64_t number, at::Device device, const Tensors& inputs, Tensors outputs);
  /// Lets streams continue that wait for a collective that never completed.
  ~StagedWork() override;

  /// Ends the span of the work in a profile, at the end of the call, as NCCL's does: a profile may end before
  /// the collective, and the profiler frees what it has recorded.
  void end_recording();
  /// Completes the work, with an error if there is one. The first call counts. Unless `reports_to_device` is
  /// false, the next wait for the device throws the error if a stream waits for the work.
  void complete(std::exception_ptr error, bool reports_to_device = true);
  /// Completes the work with an error.
  void abort(bool reports_to_device);
  void set_source_rank(int rank) { source_rank_ = rank; }
  const std::string& description() const { return description_; }

  /// Without a timeout: the calling thread's current stream waits, the host does not, and an error is thrown
  /// by the host's next wait for the device. With one: the host waits, and throws.
  bool wait(std::chrono::milliseconds timeout) override;
  /// Blocks the host, and handles signals meanwhile. Returns false if the timeout passed first;
  /// kNoTimeout is none.
  bool wait_on_host(std::chrono::milliseconds timeout);
  void synchronize() override { wait(kNoTimeout); }
  void blockCurrentStream() override { wait(kNoTimeout); }
  void abort() override { abort(true); }
  int sourceRank() const override { return source_rank_; }
  Tensors result() override { return outputs_; }
  std::uint64_t getSequencenumber() const override { return number_; }
  /// Like that of NCCL: complete at once, with an event behind the results, if streams can wait for them. So
  /// callbacks run on the caller's thread, on a stream that waits. Otherwise completion().
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  /// The future that completes with the work.
  c10::intrusive_ptr<c10::ivalue::Future> completion() const { return completion_; }

 private:
  /// True if the host must know: that the other ranks came, or who sent.
  bool completes_on_host() const;
  xpu::HostSignal& signal();  ///< the caller holds `mutex_`

  const std::string description_;
  const std::uint64_t number_;
  const at::Device device_;
  const Tensors outputs_;
  const std::vector<WeakStorage> storages_;  ///< of inputs and outputs
  std::atomic<int> source_rank_{-1};
  std::unique_ptr<LaneStream> future_stream_;  ///< on which the future's event is; under `mutex_`
  std::unique_ptr<xpu::HostSignal> signal_;    ///< of the streams that wait; under `mutex_`
  const c10::intrusive_ptr<c10::ivalue::Future> completion_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;  ///< under `mutex_`
};

/// Several collectives that the program waits for at once.
class CoalescedWork final : public c10d::Work {
 public:
  CoalescedWork(int rank, std::vector<c10::intrusive_ptr<StagedWork>> parts);
  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout) override;
  void synchronize() override { wait(kNoTimeout); }
  void blockCurrentStream() override { wait(kNoTimeout); }
  void abort() override;
  Tensors result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  const std::vector<c10::intrusive_ptr<StagedWork>> parts_;
};

}  // namespace torch_xpu::distributed
