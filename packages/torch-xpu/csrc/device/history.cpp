#include "device/history.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <mutex>

#include "xpu/device.h"
#include "xpu/memory.h"

namespace torch_xpu::history {
namespace {

struct Segment {
  std::size_t size;
  std::int64_t stream;
};
struct OfDevice {
  std::deque<Event> events;
  std::map<std::uintptr_t, Segment> segments;
  std::int64_t changes = 0;
};
struct History {
  std::mutex mutex;
  Options options;
  std::vector<OfDevice> devices = std::vector<OfDevice>(static_cast<std::size_t>(xpu::device_count()));
  std::map<std::uintptr_t, Traceback> blocks;
};

// Never destroyed: memory is freed until the process ends.
History& history() {
  static auto* one = new History;
  return *one;
}
std::atomic<bool> recording{false};

std::int64_t now_us() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
}

// What the history lets go of is released after its lock: that of a traceback may wait for the interpreter.
struct Released {
  std::vector<Traceback> tracebacks;
  std::vector<Event> events;
};

void add(OfDevice& to, Event event, Released& released) {
  auto& h = history();
  if (!h.options.events || h.options.skipped.contains(event.action)) return;
  event.time_us = now_us();
  to.events.push_back(std::move(event));
  while (to.events.size() > h.options.max_entries) {
    released.events.push_back(std::move(to.events.front()));
    to.events.pop_front();
  }
}

std::map<std::uintptr_t, Segment> segments_of(int device) {
  std::map<std::uintptr_t, Segment> out;
  for (auto& segment : xpu::memory::snapshot())
    if (segment.device == device) out[segment.address] = {segment.total_size, segment.stream};
  return out;
}

std::int64_t changes_of(int device) {
  auto stats = xpu::memory::stats(device);
  return stats.segment[xpu::memory::all].allocated + stats.segment[xpu::memory::all].freed;
}

// The pool tells of blocks only; which segments came and went is seen beside the next block.
void follow_segments(int device, const Traceback& traceback, Released& released) {
  auto& of = history().devices[static_cast<std::size_t>(device)];
  auto changes = changes_of(device);
  if (changes == of.changes) return;
  of.changes = changes;
  auto found = segments_of(device);
  for (auto& [address, segment] : of.segments)
    if (!found.contains(address) || found[address].size != segment.size)
      add(of, {"segment_free", address, segment.size, 0, segment.stream, 0, traceback}, released);
  for (auto& [address, segment] : found)
    if (!of.segments.contains(address) || of.segments[address].size != segment.size)
      add(of, {"segment_alloc", address, segment.size, 0, segment.stream, 0, traceback}, released);
  of.segments = std::move(found);
}

Options options() {
  auto& h = history();
  std::lock_guard lock(h.mutex);
  return h.options;
}

Traceback gather(const Options& with, bool wanted) {
  return wanted ? torch::CapturedTraceback::gather(true, true, with.cpp) : nullptr;
}

void allocated(void* ptr, std::size_t bytes, int device) {
  auto with = options();
  auto traceback = gather(with, with.at_allocation || with.of_blocks);
  auto block = xpu::memory::find(ptr);
  auto address = reinterpret_cast<std::uintptr_t>(ptr);
  Released released;
  auto& h = history();
  std::lock_guard lock(h.mutex);
  follow_segments(device, traceback, released);
  add(h.devices[static_cast<std::size_t>(device)],
      {"alloc", address, bytes, 0, block.stream.id(), 0, with.at_allocation ? traceback : nullptr}, released);
  if (with.of_blocks) h.blocks[address] = traceback;
}

void freed(void* ptr, std::size_t bytes, int device) {
  auto with = options();
  auto traceback = gather(with, with.at_free);
  auto block = xpu::memory::find(ptr);
  auto address = reinterpret_cast<std::uintptr_t>(ptr);
  Released released;
  auto& h = history();
  std::lock_guard lock(h.mutex);
  follow_segments(device, nullptr, released);
  for (const char* action : {"free_requested", "free_completed"})
    add(h.devices[static_cast<std::size_t>(device)],
        {action, address, bytes, 0, block.stream.id(), 0, traceback}, released);
  if (auto found = h.blocks.find(address); found != h.blocks.end()) {
    released.tracebacks.push_back(std::move(found->second));
    h.blocks.erase(found);
  }
}

void observe(void* ptr, std::int64_t bytes, int device, std::int64_t, std::int64_t) {
  if (bytes > 0)
    allocated(ptr, static_cast<std::size_t>(bytes), device);
  else
    freed(ptr, static_cast<std::size_t>(-bytes), device);
}

}  // namespace

bool active() noexcept {
  return recording.load(std::memory_order_relaxed);
}

void start(Options options, bool clear) {
  auto& h = history();
  Released released;
  std::lock_guard lock(h.mutex);
  h.options = std::move(options);
  for (int device = 0; device < xpu::device_count(); ++device) {
    auto& of = h.devices[static_cast<std::size_t>(device)];
    if (clear) {
      std::move(of.events.begin(), of.events.end(), std::back_inserter(released.events));
      of.events.clear();
    }
    if (recording) continue;
    of.changes = changes_of(device);
    of.segments = segments_of(device);
  }
  recording = true;
  xpu::memory::set_observer(&observe);
}

void stop() {
  auto& h = history();
  Released released;
  std::lock_guard lock(h.mutex);
  xpu::memory::set_observer(nullptr);
  recording = false;
  for (auto& [_, traceback] : h.blocks) released.tracebacks.push_back(std::move(traceback));
  h.blocks.clear();
}

Recorded recorded() {
  auto& h = history();
  Recorded out;
  Released released;
  std::lock_guard lock(h.mutex);
  for (int device = 0; device < xpu::device_count(); ++device) {
    auto& of = h.devices[static_cast<std::size_t>(device)];
    if (recording) {
      follow_segments(device, nullptr, released);
      auto held = xpu::memory::stats(device).allocated_bytes[xpu::memory::all].current;
      add(of, {"snapshot", 0, static_cast<std::size_t>(held), 0, 0, 0, nullptr}, released);
    }
    out.devices.emplace_back(of.events.begin(), of.events.end());
  }
  out.blocks = h.blocks;
  return out;
}

void note_out_of_memory(std::size_t bytes, int device, std::int64_t stream) {
  if (!active()) return;
  auto with = options();
  auto traceback = gather(with, with.at_allocation);
  auto free = xpu::memory_info(device).free;
  Released released;
  auto& h = history();
  std::lock_guard lock(h.mutex);
  follow_segments(device, traceback, released);
  add(h.devices[static_cast<std::size_t>(device)], {"oom", 0, bytes, free, stream, 0, traceback}, released);
}

}  // namespace torch_xpu::history
