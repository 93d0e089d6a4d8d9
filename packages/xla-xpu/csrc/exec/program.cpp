#include "exec/program.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "exec/memory.h"
#include "xpu/copy.h"
#include "xpu/enqueue.h"
#include "xpu/interrupt.h"
#include "xpu/memory.h"

namespace xla_xpu {

xpu::memory::Owner jax_owner() {
  static const auto owner = xpu::memory::owner("jax");
  return owner;
}

void run_all(const Steps& steps, Frame& frame) {
  for (auto& step : steps) step->run(frame);
}

void run_all(const Steps& steps, std::span<Frame> frames) {
  for (auto& step : steps) step->run_collective(frames);
}

bool any_collective(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](auto& step) { return step->collective(); });
}

void list_enqueue_only(const Steps& steps, std::vector<const Step*>& all) {
  for (auto& step : steps) step->list_enqueue_only(all);
}

void Executable::run(std::span<const Call> calls) const {
  program->run(calls);
}

Program::Program(std::vector<Buffer> buffers, std::size_t temporary_bytes, std::string constants, Steps steps)
    : buffers_(std::move(buffers)),
      temporary_bytes_(temporary_bytes),
      constants_(std::move(constants)),
      steps_(std::move(steps)) {}

Program::~Program() {
  for (auto* memory : on_device_) xpu::memory::deallocate(memory);
}

void Program::run(std::span<const Call> calls) const {
  std::vector<Frame> frames;
  std::vector<std::unique_ptr<ScratchBuffer>> scratch;
  for (auto& call : calls) {
    scratch.push_back(std::make_unique<ScratchBuffer>(temporary_bytes_, call.stream));
    frames.push_back(frame_of(call, static_cast<int>(frames.size()), scratch.back()->data()));
  }
  run_all(steps_, frames);
}

Frame Program::frame_of(const Call& call, int device_index, std::byte* scratch) const {
  Frame frame(call.stream, buffers_.size(), device_index);
  auto* constants = constants_on(call.stream.device());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    auto& buffer = buffers_[i];
    switch (buffer.kind) {
      case Buffer::Kind::parameter:
        frame.base[i] = static_cast<std::byte*>(call.parameters[buffer.place]);
        break;
      case Buffer::Kind::output:
        frame.base[i] = static_cast<std::byte*>(call.outputs[buffer.place]);
        break;
      case Buffer::Kind::temporary:
        frame.base[i] = scratch + buffer.place;
        break;
      case Buffer::Kind::constant:
        frame.base[i] = constants + buffer.place;
        break;
    }
  }
  return frame;
}

// Gives buffers addresses that are not mapped, as far from each other as a process's address space allows.
void Program::dry_run(const Step& step, int device) const {
  constexpr std::uintptr_t addresses = std::uintptr_t{1} << 46, page = 4096;
  auto distance = addresses / (buffers_.size() + 1) / page * page;
  Frame frame(xpu::default_stream(device), buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    frame.base[i] = reinterpret_cast<std::byte*>((i + 1) * distance);
  xpu::DryRunGuard dry_run;
  step.run(frame);
}

void Program::prepare(int device) const {
  constants_on(device);
  std::vector<const Step*> steps;
  list_enqueue_only(steps_, steps);
  std::vector<std::atomic_flag> claimed(steps.size());
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  auto threads = std::min<std::size_t>(std::thread::hardware_concurrency(), steps.size());
  // Each thread starts at another step: neighbors share modules, which only one thread can build.
  auto work = [&](std::size_t thread) {
    // Ctrl-C may end the wait for the compiler: nothing is enqueued here, so nothing stays half done.
    xpu::OperationScope operation(&failed);
    for (std::size_t n = 0, first = thread * steps.size() / threads; n < steps.size() && !failed; ++n) {
      auto index = (first + n) % steps.size();
      if (claimed[index].test_and_set()) continue;
      try {
        dry_run(*steps[index], device);
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t thread = 1; thread < threads; ++thread) helpers.emplace_back(work, thread);
  work(0);
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

std::byte* Program::constants_on(int device) const {
  if (constants_.empty()) return nullptr;
  std::lock_guard lock(mutex_);
  auto index = static_cast<std::size_t>(device);
  if (on_device_.size() <= index) on_device_.resize(index + 1);
  if (!on_device_[index]) {
    // Every program runs on this stream, so the copy completes before their work.
    auto stream = xpu::default_stream(device);
    auto* memory = static_cast<std::byte*>(xpu::memory::allocate(constants_.size(), stream, jax_owner()));
    xpu::copy(stream, memory, constants_.data(), constants_.size());
    // The device reads constants_, which the program owns. This wait happens once per program and device.
    stream.synchronize();
    on_device_[index] = memory;
  }
  return on_device_[index];
}

}  // namespace xla_xpu
