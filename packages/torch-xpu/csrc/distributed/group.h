// What a process group's threads share: transport, order, failure.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "distributed/lane.h"
#include "distributed/self_transfers.h"
#include "distributed/work.h"

namespace torch_xpu::distributed {

/// The steps of a collective, or of a piece of it: pieces are copied while others are on the way. Each may be
/// empty. A step's tensors live until the work is complete.
struct Steps {
  /// Enqueues copies to the host on the current stream, which is the one given.
  std::function<void(xpu::Stream)> to_host;
  /// Starts the transport. Called when the copies have completed.
  std::function<std::vector<c10::intrusive_ptr<c10d::Work>>(c10d::Backend&, std::chrono::milliseconds)> start;
  /// Enqueues copies from the host.
  std::function<void(xpu::Stream)> from_host;
};

/// A collective's name and the tensors of the program.
struct Call {
  c10d::OpType type;
  const char* name;
  Tensors inputs, outputs;
  at::Device device = at::kXPU;
  std::chrono::milliseconds timeout = c10d::kUnsetTimeout;
  int peer = -1;

  bool is_point_to_point() const {
    return type == c10d::OpType::SEND || type == c10d::OpType::RECV || type == c10d::OpType::RECVANYSOURCE;
  }
};

/// Thread-safe. Its threads share ownership, so it may outlive the process group.
class Group : public std::enable_shared_from_this<Group> {
 public:
  Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, std::string backend,
        c10::intrusive_ptr<c10d::Backend> transport, std::chrono::milliseconds timeout);
  static std::shared_ptr<Group> make(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                     std::string backend, c10::intrusive_ptr<c10d::Backend> transport,
                                     std::chrono::milliseconds timeout);

  /// Enqueues a collective behind the current stream's pending work. Throws DistBackendError if an earlier
  /// collective of the group failed, and UsageError's text if a graph captures the stream.
  /// All ranks must divide it into the same pieces.
  c10::intrusive_ptr<c10d::Work> enqueue(Call call, std::vector<Steps> pieces);

  void start_coalescing();
  c10::intrusive_ptr<c10d::Work> end_coalescing();
  void set_timeout(std::chrono::milliseconds timeout);
  std::uint64_t sequence_number() const;
  c10d::ErrorType error() const;
  /// Fails what is pending and all later calls. Never blocks.
  void abort();
  /// Waits until what is pending has completed or timed out. Later calls fail.
  void close();
  /// Waits for what is pending for at most `timeout`, and fails the rest. The devices do not report it: for
  /// the end of the process, whose status is its own.
  void end_within(std::chrono::milliseconds timeout);
  /// Sets the group's name, for messages, and this process's rank among all, for the flight record.
  void set_label(std::string label, int global_rank);

  /// The transfers of the rank to itself, which the transport does not have.
  SelfTransfers& self_transfers() { return self_transfers_; }

  const int rank, size;

 private:
  struct Pending;
  void abort(bool reports_to_device);
  void run(std::shared_ptr<Pending> pending, bool posts_only);
  void finish_posted(std::shared_ptr<Pending> pending);
  void start(Pending& pending, xpu::Stream stream);
  void finish(Pending& pending, xpu::Stream stream);
  void fail(Pending& pending, std::exception_ptr error);
  void complete(const Pending& pending, std::exception_ptr error);
  std::string describe(const Call& call, std::uint64_t number) const;
  std::string missing_ranks(std::uint64_t number);
  std::string others_pending(const Pending& pending);
  Lane& lane(bool point_to_point);

  const c10::intrusive_ptr<c10d::Store> store_;
  const std::string backend_;
  const c10::intrusive_ptr<c10d::Backend> transport_;
  SelfTransfers self_transfers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mutex transport_mutex_;  ///< held while a transport is started, from either lane
  std::chrono::milliseconds timeout_;
  std::string label_;
  int global_rank_;
  std::uint64_t collectives_ = 0, transfers_ = 0;
  std::unordered_set<std::shared_ptr<Pending>> pending_;
  std::unique_ptr<Lane> collective_lane_, transfer_lane_;
  std::optional<std::vector<c10::intrusive_ptr<StagedWork>>> coalesced_;
  std::string failure_;  ///< of the first collective that failed
  bool timed_out_ = false;
  const int process_;
};

/// Calls end_within() of all groups, in the order in which they were made, for at most `timeout` in all.
void end_groups_within(std::chrono::milliseconds timeout);

}  // namespace torch_xpu::distributed
