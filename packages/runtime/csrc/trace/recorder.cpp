#include "trace/recorder.h"

#include <unistd.h>

#include <sys/syscall.h>
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <sycl/backend/opencl.hpp>

#include "devices/opencl.h"
#include "devices/sycl_error.h"
#include "memory/strict/strict.h"
#include "process/immortal.h"
#include "process/startup.h"
#include "streams/stream_state.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/graph.h"

namespace xpu::trace {
namespace {

struct Entry {
  Record record;
  TimingEvents events;  ///< of work on a device; released once the record has its times
};

struct Recorder {
  std::mutex start_stop_mutex;  ///< locked before the streams' enqueue mutexes, and those before `mutex`
  std::mutex mutex;
  std::vector<Entry> entries;
  std::uint64_t next_correlation = 1;
  std::size_t resolved = 0;                  // number of leading entries that have their device times
  std::map<int, std::int64_t> clock_offset;  // host clock minus device clock, by device
};

std::atomic<bool> is_active{false};
Recorder& recorder() {
  static auto& one = immortal<Recorder>();
  return one;
}

std::uint64_t thread_id() {
  thread_local std::uint64_t id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  return id;
}

constexpr Record::Kind kind_of(WorkKind kind) {
  return static_cast<Record::Kind>(static_cast<int>(kind));
}
static_assert(kind_of(WorkKind::marker) == Record::Kind::marker);

// SYCL's queues do not know events of work that bypassed SYCL, so this asks the driver for their times.
std::uint64_t opencl_time(const sycl::event& event, bool end) {
  cl_ulong time = 0;
  for (cl_event native : sycl::get_native<sycl::backend::opencl>(event)) {
    auto which = end ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START;
    auto status = XPU_CL(clGetEventProfilingInfo)(native, which, sizeof time, &time, nullptr);
    XPU_CL(clReleaseEvent)(native);
    expect<DeviceError>(status == CL_SUCCESS, "reading the times of an event: OpenCL error ", status);
  }
  return time;
}

std::uint64_t device_time(const sycl::event& event, bool end) {
  using namespace sycl::info::event_profiling;
  try {
    return end ? event.get_profiling_info<command_end>() : event.get_profiling_info<command_start>();
  } catch (const sycl::exception& e) {
    if (e.code() != sycl::errc::invalid || event.get_backend() != sycl::backend::opencl) throw;
    return opencl_time(event, end);
  }
}

// Measures a few times: the smallest offset includes the least waiting.
std::int64_t measure_clock_offset(int device) {
  std::int64_t best = INT64_MAX;
  auto queue = make_queue(device, 0, true);
  for (int i = 0; i < 5; ++i) {
    auto mark = queue.ext_oneapi_submit_barrier();
    mark.wait();
    auto host = static_cast<std::int64_t>(now());
    best = std::min(best, host - static_cast<std::int64_t>(device_time(mark, true)));
  }
  return best;
}

// Blocks until the work has completed.
void resolve_device_times(Entry& entry, const std::map<int, std::int64_t>& clock_offset) {
  auto& [previous, work] = entry.events;
  if (!work) return;
  auto offset = clock_offset.at(entry.record.device);
  entry.record.device_begin = (previous ? device_time(*previous, true) : device_time(*work, false)) + offset;
  entry.record.device_end = device_time(*work, true) + offset;
  entry.events = {};
}

// Driver events are a limited resource, so the times of completed work are read as the trace grows.
void resolve_completed(Recorder& r) {
  for (; r.resolved < r.entries.size(); ++r.resolved) {
    auto& entry = r.entries[r.resolved];
    auto& work = entry.events.work;
    if (!work) continue;
    if (!is_complete(*work)) return;
    resolve_device_times(entry, r.clock_offset);
  }
}

void set_profiling_of_all_streams(bool enabled) {
  strict::AccessGuard guard;
  for (int device = 0; device < device_count(); ++device)
    for (Stream stream : all_streams(device)) set_profiling(*stream.state(), enabled);
}

void add(Record record, TimingEvents events = {}) {
  auto& r = recorder();
  record.thread = thread_id();
  std::lock_guard lock(r.mutex);
  record.correlation = r.next_correlation++;
  r.entries.push_back({std::move(record), std::move(events)});
  if (r.entries.size() % 1024 == 0) resolve_completed(r);
}

}  // namespace

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds(1));
}

bool active() {
  return is_active.load(std::memory_order_relaxed);
}

void start() {
  startup::require_thread_allowed();
  auto& r = recorder();
  std::lock_guard start_stop_lock(r.start_stop_mutex);
  expect<UsageError>(!active(), "a trace is already being recorded; stop it first");
  std::map<int, std::int64_t> offsets;
  translate_sycl_errors("starting a trace", [&] {
    set_profiling_of_all_streams(true);
    for (int device = 0; device < device_count(); ++device) offsets[device] = measure_clock_offset(device);
  });
  std::lock_guard lock(r.mutex);
  r.entries.clear();
  r.resolved = 0;
  r.clock_offset = std::move(offsets);
  is_active = true;
}

std::vector<Record> stop() {
  startup::require_thread_allowed();
  auto& r = recorder();
  std::lock_guard start_stop_lock(r.start_stop_mutex);
  expect<UsageError>(is_active.exchange(false), "no trace is being recorded; start one first");
  translate_sycl_errors("stopping a trace", [] { set_profiling_of_all_streams(false); });
  std::vector<Entry> entries;
  std::map<int, std::int64_t> clock_offset;
  {
    std::lock_guard lock(r.mutex);
    entries = std::exchange(r.entries, {});
    clock_offset = r.clock_offset;
  }
  // `mutex` is not held here: the work may wait for a thread that is about to add a record.
  std::vector<Record> records;
  translate_sycl_errors("reading the times of a trace", [&] {
    for (auto& entry : entries) {
      resolve_device_times(entry, clock_offset);
      records.push_back(std::move(entry.record));
    }
  });
  std::stable_sort(records.begin(), records.end(),
                   [](auto& a, auto& b) { return a.host_begin < b.host_begin; });
  return records;
}

void record_work(Stream stream, const WorkInfo& info, std::uint64_t begin, std::uint64_t end,
                 TimingEvents events) {
  Record record{kind_of(info.kind), std::string(info.name), stream.device(), stream.id()};
  record.host_begin = begin;
  record.host_end = end;
  record.bytes = info.bytes;
  add(std::move(record), std::move(events));
}

void record_memory(bool allocate, std::size_t bytes, int device, std::int64_t stream, std::uint64_t total) {
  Record record{allocate ? Record::Kind::allocate : Record::Kind::free, allocate ? "allocate" : "free",
                device, stream};
  record.host_begin = record.host_end = now();
  record.bytes = bytes;
  record.counter = total;
  add(std::move(record));
}

void record_host(Record::Kind kind, std::string_view name, std::uint64_t begin, std::uint64_t end) {
  Record record{kind, std::string(name)};
  record.host_begin = begin;
  record.host_end = end;
  add(std::move(record));
}

Span::Span(std::string_view name) {
  if (!active()) return;
  name_ = name;
  begin_ = now();
}

Span::~Span() {
  if (begin_ && active()) record_host(Record::Kind::span, name_, begin_, now());
}

}  // namespace xpu::trace
