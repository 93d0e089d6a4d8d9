// torch.xpu.memory._record_memory_history: what happened to the memory of all frameworks, and from where.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bridge/api.h"

namespace torch_xpu::history {

using Traceback = std::shared_ptr<torch::CapturedTraceback>;

struct Options {
  bool events = true;                         ///< otherwise only where living blocks come from
  bool at_allocation = true, at_free = true;  ///< keep tracebacks of these events
  bool of_blocks = true;                      ///< keep tracebacks of living blocks
  bool cpp = false;                           ///< tracebacks have C++ frames too
  std::size_t max_entries = SIZE_MAX;         ///< events kept of each device, the last ones
  std::set<std::string> skipped;
};

struct Event {
  const char* action;
  std::uintptr_t address = 0;
  std::size_t size = 0, device_free = 0;
  std::int64_t stream = 0, time_us = 0;
  Traceback traceback;
};

struct Recorded {
  std::vector<std::vector<Event>> devices;
  std::map<std::uintptr_t, Traceback> blocks;
};

/// Recording begins; what was recorded before stays unless `clear`.
TORCH_XPU_PUBLIC void start(Options options, bool clear);
TORCH_XPU_PUBLIC void stop();
bool active() noexcept;
/// Everything up to now, which ends with a mark that says so.
TORCH_XPU_PUBLIC Recorded recorded();
/// An allocation failed.
void note_out_of_memory(std::size_t bytes, int device, std::int64_t stream);

}  // namespace torch_xpu::history
