#include "exec/program.h"

#include <atomic>
#include <exception>
#include <thread>

#include "exec/executable.h"
#include "exec/memory.h"
#include "xpu/copy.h"
#include "xpu/memory.h"

namespace xla_xpu {

xpu::memory::Owner jax_owner() {
  static const auto owner = xpu::memory::owner("jax");
  return owner;
}

void run_all(const Steps& steps, Frame& frame) {
  for (auto& step : steps) step->run(frame);
}

void Executable::run(xpu::Stream stream, std::span<void* const> parameters,
                     std::span<void* const> outputs) const {
  program->run(stream, parameters, outputs);
}

Program::Program(std::vector<Buffer> buffers, std::size_t temporary_bytes, std::string constants, Steps steps)
    : buffers_(std::move(buffers)),
      temporary_bytes_(temporary_bytes),
      constants_(std::move(constants)),
      steps_(std::move(steps)) {}

Program::~Program() {
  for (auto* memory : on_device_) xpu::memory::deallocate(memory);
}

void Program::run(xpu::Stream stream, std::span<void* const> parameters,
                  std::span<void* const> outputs) const {
  Frame frame(stream, buffers_.size());
  Temporary temporaries(temporary_bytes_, stream);
  auto* constants = constants_on(stream.device());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    auto& buffer = buffers_[i];
    switch (buffer.kind) {
      case Buffer::Kind::parameter:
        frame.base[i] = static_cast<std::byte*>(parameters[buffer.place]);
        break;
      case Buffer::Kind::output:
        frame.base[i] = static_cast<std::byte*>(outputs[buffer.place]);
        break;
      case Buffer::Kind::temporary:
        frame.base[i] = temporaries.data() + buffer.place;
        break;
      case Buffer::Kind::constant:
        frame.base[i] = constants + buffer.place;
        break;
    }
  }
  run_all(steps_, frame);
}

void Program::prepare(int device) const {
  constants_on(device);
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  auto work = [&] {
    for (std::size_t i = next++; i < steps_.size(); i = next++) {
      try {
        steps_[i]->prepare(device);
      } catch (...) {
        std::lock_guard lock(mutex_);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers(std::max(1u, std::thread::hardware_concurrency()) - 1);
  for (auto& helper : helpers) helper = std::jthread(work);
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

std::byte* Program::constants_on(int device) const {
  if (constants_.empty()) return nullptr;
  std::lock_guard lock(mutex_);
  auto index = static_cast<std::size_t>(device);
  if (on_device_.size() <= index) on_device_.resize(index + 1);
  if (!on_device_[index]) {
    // On the stream that every program runs on, which orders the copy before their work.
    auto stream = xpu::default_stream(device);
    auto* memory = static_cast<std::byte*>(xpu::memory::allocate(constants_.size(), stream, jax_owner()));
    xpu::copy(stream, memory, constants_.data(), constants_.size());
    // Once for a program and a device. Not waiting for it gave the first run old memory now and then.
    stream.synchronize();
    on_device_[index] = memory;
  }
  return on_device_[index];
}

}  // namespace xla_xpu
