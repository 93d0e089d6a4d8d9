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

c10::intrusive_ptr<c10::ivalue::Future> make_future(at::Device device) {
  return c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors(),
                                                  std::vector<at::Device>{device});
}

std::vector<StagedWork::WeakStorage> storages_of(const Tensors& inputs, const Tensors& outputs) {
  std::vector<StagedWork::WeakStorage> storages;
  for (auto* tensors : {&inputs, &outputs})
    for (auto& tensor : *tensors) storages.push_back(tensor.storage().getWeakStorageImpl());
  return storages;
}

}  // namespace

StagedWork::StagedWork(int rank, c10d::OpType type, const std::string& title, std::string description,
                       std::uint64_t number, at::Device device, const Tensors& inputs, Tensors outputs)
    : Work(rank, type, title.c_str(), inputs),
      description_(std::move(description)),
      number_(number),
      device_(device),
      outputs_(std::move(outputs)),
      storages_(storages_of(inputs, outputs_)),
      completion_(make_future(device)) {}

StagedWork::~StagedWork() = default;

void StagedWork::end_recording() {
  if (recordFunctionEndCallback_) std::exchange(recordFunctionEndCallback_, nullptr)();
}

void StagedWork::complete(std::exception_ptr error, bool reports_to_device) {
  xpu::HostSignal* signal = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (completed_) return;
    completed_ = true;
    exception_ = error;
    signal = signal_.get();  // final: nobody makes one for completed work
  }
  if (signal) error&& reports_to_device ? signal->fail(error) : signal->set();
  future_stream_ = nullptr;  // blocked until now, and no longer changed
  cv_.notify_all();
  if (error)
    completion_->setErrorIfNeeded(error);
  else
    completion_->markCompleted(at::IValue(outputs_));
}

c10::intrusive_ptr<c10::ivalue::Future> StagedWork::getFuture() {
  std::lock_guard lock(mutex_);
  if (future_) return future_;
  if (completed_ || storages_.empty() || completes_on_host() || !xpu::HostSignal::supported(device_.index()))
    return completion_;
  translate_errors([&] {
    future_stream_ = std::make_unique<LaneStream>(device_.index());
    signal().block(future_stream_->stream);
    CurrentStream current(future_stream_->stream);
    auto future = make_future(device_);
    future->markCompleted(at::IValue(outputs_), storages_);
    future_ = std::move(future);
  });
  return future_;
}

bool StagedWork::completes_on_host() const {
  return opType_ == c10d::OpType::BARRIER || opType_ == c10d::OpType::RECVANYSOURCE;
}

xpu::HostSignal& StagedWork::signal() {
  if (!signal_) signal_ = std::make_unique<xpu::HostSignal>(device_.index());
  return *signal_;
}

bool StagedWork::wait(milliseconds timeout) {
  if (timeout != kNoTimeout) {
    TORCH_CHECK_WITH(DistBackendError, wait_on_host(timeout), description_, " has not completed within ",
                     timeout.count(), " ms");
    return true;
  }
  if (completes_on_host()) return wait_on_host(kNoTimeout);
  {
    std::lock_guard lock(mutex_);
    if (!completed_ && xpu::HostSignal::supported(device_.index())) {
      translate_errors([&] { signal().block(xpu::current_stream(device_.index())); });
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

CoalescedWork::CoalescedWork(int rank, std::vector<c10::intrusive_ptr<StagedWork>> parts)
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
  // An event that stands for all of them would need a stream that waits for each.
  for (auto& part : parts_) futures.push_back(part->completion());
  return c10::collectAll(futures);
}

}  // namespace torch_xpu::distributed
