#include "distributed/self_transfers.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <exception>
#include <utility>

namespace torch_xpu::distributed {

SelfTransfers::Receive::Receive(at::Tensor bytes) : bytes_(std::move(bytes)) {}

void SelfTransfers::Receive::fill(const at::Tensor& sent) {
  std::exception_ptr error;
  try {
    TORCH_CHECK(sent.numel() == bytes_.numel(), "recv of ", bytes_.numel(), " bytes: this rank sent itself ",
                sent.numel());
    std::memcpy(bytes_.mutable_data_ptr(), sent.const_data_ptr(), sent.nbytes());
  } catch (...) {
    error = std::current_exception();
  }
  finish(error);
}

void SelfTransfers::Receive::fail() {
  finish(std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, "recv was aborted")));
}

void SelfTransfers::send(at::Tensor bytes, int tag) {
  c10::intrusive_ptr<Receive> receive;
  {
    std::lock_guard lock(mutex_);
    auto& waiting = receives_[tag];
    if (waiting.empty()) return sent_[tag].push_back(std::move(bytes));
    receive = std::move(waiting.front());
    waiting.pop_front();
  }
  receive->fill(bytes);
}

c10::intrusive_ptr<c10d::Work> SelfTransfers::recv(at::Tensor bytes, int tag) {
  auto receive = c10::make_intrusive<Receive>(std::move(bytes));
  at::Tensor sent;
  {
    std::lock_guard lock(mutex_);
    auto& arrived = sent_[tag];
    if (!arrived.empty()) {
      sent = std::move(arrived.front());
      arrived.pop_front();
    } else if (!aborted_) {
      receives_[tag].push_back(receive);
      return receive;
    }
  }
  sent.defined() ? receive->fill(sent) : receive->fail();
  return receive;
}

void SelfTransfers::abort() {
  std::map<int, std::deque<c10::intrusive_ptr<Receive>>> all;
  {
    std::lock_guard lock(mutex_);
    aborted_ = true;
    all.swap(receives_);
  }
  for (auto& [tag, receives] : all)
    for (auto& receive : receives) receive->fail();
}

}  // namespace torch_xpu::distributed
