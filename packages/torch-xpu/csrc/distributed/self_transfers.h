// Sends of a rank to itself, which transports reject.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <deque>
#include <map>
#include <mutex>

namespace torch_xpu::distributed {

/// Matches sends with receives of the same tag, in the order of the calls. Thread-safe.
class SelfTransfers {
 public:
  /// Gives the host tensor to the next receive. Never blocks.
  void send(at::Tensor bytes, int tag);
  /// Returns work that completes when a send has filled the host tensor. Fails if the send has another size.
  c10::intrusive_ptr<c10d::Work> recv(at::Tensor bytes, int tag);
  /// Fails the receives that wait, and later ones.
  void abort();

 private:
  /// Work of a receive, which a send completes.
  class Receive final : public c10d::Work {
   public:
    explicit Receive(at::Tensor bytes);
    void fill(const at::Tensor& sent);
    void fail();

   private:
    at::Tensor bytes_;
  };

  std::mutex mutex_;
  std::map<int, std::deque<at::Tensor>> sent_;
  std::map<int, std::deque<c10::intrusive_ptr<Receive>>> receives_;
  bool aborted_ = false;
};

}  // namespace torch_xpu::distributed
