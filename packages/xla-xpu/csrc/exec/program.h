// A flat plan: buffers, and steps that are enqueued in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "exec/executable.h"
#include "exec/frame.h"

namespace xla_xpu {

/// Enqueues some work. All runs of a program share its steps and may overlap, so run() is thread-safe.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(Frame& frame) const = 0;
  /// Runs the step on all devices of the program; `frames` has one entry per device.
  virtual void run_collective(std::span<Frame> frames) const {
    for (auto& frame : frames) run(frame);
  }
  /// Returns true if the step, or one in it, needs all devices at once.
  virtual bool collective() const { return false; }
  /// Appends the steps that only enqueue device work, and can be dry-run.
  virtual void list_enqueue_only(std::vector<const Step*>& all) const { all.push_back(this); }
};
using Steps = std::vector<std::unique_ptr<Step>>;

void run_all(const Steps& steps, Frame& frame);
void run_all(const Steps& steps, std::span<Frame> frames);
bool any_collective(const Steps& steps);
void list_enqueue_only(const Steps& steps, std::vector<const Step*>& all);

struct Buffer {
  enum class Kind { parameter, output, temporary, constant } kind;
  std::size_t place = 0;  ///< index of the parameter or output; offset in the scratch or constant memory
};

class Program {
 public:
  Program(std::vector<Buffer> buffers, std::size_t temporary_bytes, std::string constants, Steps steps);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void run(std::span<const Call> calls) const;
  /// Builds the kernels of all steps for a device, on all cores, and copies the constants to it. Blocks.
  void prepare(int device) const;

 private:
  Frame frame_of(const Call& call, int device_index, std::byte* scratch) const;
  void dry_run(const Step& step, int device) const;
  std::byte* constants_on(int device) const;

  std::vector<Buffer> buffers_;
  std::size_t temporary_bytes_;
  std::string constants_;
  Steps steps_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte*> on_device_;  ///< address of the constants, by device
};

}  // namespace xla_xpu
