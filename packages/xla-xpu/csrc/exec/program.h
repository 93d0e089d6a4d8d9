// A flat plan: buffers, and steps that are queued one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "exec/frame.h"

namespace xla_xpu {

/// Queues some work. Shared by all runs of its program, which may be at the same time.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(Frame& frame) const = 0;
  /// Builds its kernels, so that the first run need not.
  virtual void prepare(int /*device*/) const {}
};
using Steps = std::vector<std::unique_ptr<Step>>;

void run_all(const Steps& steps, Frame& frame);

struct Buffer {
  enum class Kind { parameter, output, temporary, constant } kind;
  std::size_t place = 0;  ///< which parameter or output; the offset in the temporary or the constant memory
};

class Program {
 public:
  Program(std::vector<Buffer> buffers, std::size_t temporary_bytes, std::string constants, Steps steps);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void run(xpu::Stream stream, std::span<void* const> parameters, std::span<void* const> outputs) const;
  /// Builds the kernels for a device, and copies the constants to it.
  void prepare(int device) const;

 private:
  std::byte* constants_on(int device) const;

  std::vector<Buffer> buffers_;
  std::size_t temporary_bytes_;
  std::string constants_;
  Steps steps_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte*> on_device_;  ///< the constants, by device
};

}  // namespace xla_xpu
