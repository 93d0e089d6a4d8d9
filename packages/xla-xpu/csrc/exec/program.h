// A flat plan: buffers, and steps that are queued one after the other.
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

/// Queues some work. Shared by all runs of its program, which may be at the same time.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(Frame& frame) const = 0;
  /// The same on all devices of the program.
  virtual void run_together(std::span<Frame> frames) const {
    for (auto& frame : frames) run(frame);
  }
  /// Whether the devices must run it, or what is in it, together.
  virtual bool collective() const { return false; }
  /// Adds the steps that do nothing but queue work, which can be rehearsed: this one, or those in it.
  virtual void list_queueing(std::vector<const Step*>& all) const { all.push_back(this); }
};
using Steps = std::vector<std::unique_ptr<Step>>;

void run_all(const Steps& steps, Frame& frame);
void run_all(const Steps& steps, std::span<Frame> frames);
bool any_collective(const Steps& steps);
void list_queueing(const Steps& steps, std::vector<const Step*>& all);

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

  void run(std::span<const Call> calls) const;
  /// Builds what a run needs on a device, and copies the constants to it.
  void prepare(int device) const;

 private:
  Frame frame_of(const Call& call, int number, std::byte* temporaries) const;
  void rehearse(const Step& step, int device) const;
  std::byte* constants_on(int device) const;

  std::vector<Buffer> buffers_;
  std::size_t temporary_bytes_;
  std::string constants_;
  Steps steps_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte*> on_device_;  ///< the constants, by device
};

}  // namespace xla_xpu
