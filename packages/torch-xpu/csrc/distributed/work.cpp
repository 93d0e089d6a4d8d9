#include "distributed/work.h"

#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <utility>

#include "device/errors.h"
#include "xpu/stream.h"

namespace torch_xpu::distributed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto signal_check_interval = milliseconds(100);

// Only the main thread's Python handles signals; on others this does nothing.
void check_signals() {
  if (!Py_IsInitialized()) return;
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

}  // namespace

StagedWork::StagedWork(int rank, c10d::OpType type, const std::string& title, std::string description,
                       std::uint64_t number, at::Device device, const Tensors& inputs, Tensors outputs)
    : Work(rank, type, title.c_str(), inputs),
      description_(std::move(description)),
      number_(number),
      device_(device),
      outputs_(std::move(outputs)),
      future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors(),
                                                       std::vector<at::Device>{device})) {}

StagedWork::~StagedWork() = default;

void StagedWork::complete(std::exception_ptr error, bool reports_to_device) {
  xpu::HostSignal* signal = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (completed_) return;
    completed_ = true;
    exception_ = error;
    signal = signal_.get();  // final: wait() makes none for completed work
    if (recordFunctionEndCallback_) std::exchange(recordFunctionEndCallback_, nullptr)();
  }
  if (signal) error&& reports_to_device ? signal->fail(error) : signal->set();
  cv_.notify_all();
  if (error)
    future_->setErrorIfNeeded(error);
  else
    future_->markCompleted(at::IValue(outputs_));
}

bool StagedWork::wait(milliseconds timeout) {
  if (timeout != kNoTimeout) {
    TORCH_CHECK_WITH(DistBackendError, wait_on_host(timeout), description_, " has not completed within ",
                     timeout.count(), " ms");
    return true;
  }
  // Then the host knows that the other ranks came, or who sent.
  if (opType_ == c10d::OpType::BARRIER || opType_ == c10d::OpType::RECVANYSOURCE)
    return wait_on_host(kNoTimeout);
  {
    std::lock_guard lock(mutex_);
    if (!completed_ && xpu::HostSignal::supported(device_.index())) {
      translate_errors([&] {
        if (!signal_) signal_ = std::make_unique<xpu::HostSignal>(device_.index());
        signal_->block(xpu::current_stream(device_.index()));
      });
      return true;
    }
  }
  return wait_on_host(kNoTimeout);
}

bool StagedWork::wait_on_host(milliseconds timeout) {
  auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  auto interval = timeout == kNoTimeout ? signal_check_interval : std::min(signal_check_interval, timeout);
  while (!cv_.wait_for(lock, interval, [this] { return completed_; })) {
    if (timeout != kNoTimeout && Clock::now() - begin >= timeout) return false;
    lock.unlock();
    check_signals();
    lock.lock();
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

void StagedWork::abort(bool reports_to_device) {
  complete(std::make_exception_ptr(
               c10::DistBackendError({__func__, __FILE__, __LINE__}, description_ + " was aborted")),
           reports_to_device);
}

CoalescedWork::CoalescedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> parts)
    : Work(rank, c10d::OpType::COALESCED), parts_(std::move(parts)) {}

bool CoalescedWork::isCompleted() {
  return std::all_of(parts_.begin(), parts_.end(), [](auto& part) { return part->isCompleted(); });
}

bool CoalescedWork::isSuccess() const {
  return std::all_of(parts_.begin(), parts_.end(), [](auto& part) { return part->isSuccess(); });
}

std::exception_ptr CoalescedWork::exception() const {
  for (auto& part : parts_)
    if (auto error = part->exception()) return error;
  return nullptr;
}

bool CoalescedWork::wait(milliseconds timeout) {
  auto begin = Clock::now();
  for (auto& part : parts_) {
    auto left = timeout;
    if (timeout != kNoTimeout) {
      auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
      left = std::max(timeout - spent, milliseconds(1));
    }
    part->wait(left);
  }
  return true;
}

void CoalescedWork::abort() {
  for (auto& part : parts_) part->abort();
}

Tensors CoalescedWork::result() {
  Tensors all;
  for (auto& part : parts_)
    for (auto& tensor : part->result()) all.push_back(tensor);
  return all;
}

c10::intrusive_ptr<c10::ivalue::Future> CoalescedWork::getFuture() {
  auto type = c10::FutureType::create(c10::ListType::ofTensors());
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(type);
  for (auto& part : parts_) futures.push_back(part->getFuture());
  return c10::collectAll(futures);
}

}  // namespace torch_xpu::distributed
