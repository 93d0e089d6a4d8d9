#include "trace/recorder.h"

#include <unistd.h>

#include <sys/syscall.h>
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <sycl/backend/opencl.hpp>

#include "immortal.h"
#include "memory/strict/strict.h"
#include "opencl.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/graph.h"

namespace xpu::trace {
namespace {

struct Entry {
  Record record;
  DeviceTimes times;  ///< of work on a device; taken away when the record has its times
};

struct Recorder {
  std::mutex
      switching;  ///< of who starts or stops; taken before the order of streams, and this before `mutex`
  std::mutex mutex;
  std::vector<Entry> entries;
  std::uint64_t next = 1;
  std::size_t settled = 0;                // entries before this one have their device times
  std::map<int, std::int64_t> clock_gap;  // device clock less ours, by device
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

// Events of work that the driver was given directly are unknown to SYCL's queues, so the driver is asked.
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

// Tried a few times: the smallest gap is the one with the least waiting in it.
std::int64_t measure_gap(int device) {
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

/// Waits for the work.
void settle(Entry& entry, const std::map<int, std::int64_t>& clock_gap) {
  auto& [after, work] = entry.times;
  if (!work) return;
  auto gap = clock_gap.at(entry.record.device);
  entry.record.device_begin = (after ? device_time(*after, true) : device_time(*work, false)) + gap;
  entry.record.device_end = device_time(*work, true) + gap;
  entry.times = {};
}

// Driver events are a limited resource: take the times of finished work as the trace grows.
void settle_finished(Recorder& r) {
  for (; r.settled < r.entries.size(); ++r.settled) {
    auto& entry = r.entries[r.settled];
    auto& work = entry.times.work;
    if (!work) continue;
    if (!is_complete(*work)) return;
    settle(entry, r.clock_gap);
  }
}

void set_profiling_of_all(bool enabled) {
  strict::Window window;
  for (int device = 0; device < device_count(); ++device)
    for (Stream stream : all_streams(device)) set_profiling(*stream.state(), enabled);
}

void add(Record record, DeviceTimes times = {}) {
  auto& r = recorder();
  record.thread = thread_id();
  std::lock_guard lock(r.mutex);
  record.correlation = r.next++;
  r.entries.push_back({std::move(record), std::move(times)});
  if (r.entries.size() % 1024 == 0) settle_finished(r);
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
  std::lock_guard one_at_a_time(r.switching);
  expect<UsageError>(!active(), "a trace is already being recorded; stop it first");
  std::map<int, std::int64_t> gaps;
  translate_sycl_errors("starting a trace", [&] {
    set_profiling_of_all(true);
    for (int device = 0; device < device_count(); ++device) gaps[device] = measure_gap(device);
  });
  std::lock_guard lock(r.mutex);
  r.entries.clear();
  r.settled = 0;
  r.clock_gap = std::move(gaps);
  is_active = true;
}

std::vector<Record> stop() {
  startup::require_thread_allowed();
  auto& r = recorder();
  std::lock_guard one_at_a_time(r.switching);
  expect<UsageError>(is_active.exchange(false), "no trace is being recorded; start one first");
  translate_sycl_errors("stopping a trace", [] { set_profiling_of_all(false); });
  std::vector<Entry> entries;
  std::map<int, std::int64_t> clock_gap;
  {
    std::lock_guard lock(r.mutex);
    entries = std::exchange(r.entries, {});
    clock_gap = r.clock_gap;
  }
  // Without the lock: work may wait for a thread that is about to record more.
  std::vector<Record> records;
  translate_sycl_errors("reading the times of a trace", [&] {
    for (auto& entry : entries) {
      settle(entry, clock_gap);
      records.push_back(std::move(entry.record));
    }
  });
  std::stable_sort(records.begin(), records.end(),
                   [](auto& a, auto& b) { return a.host_begin < b.host_begin; });
  return records;
}

void note_work(Stream stream, const WorkInfo& info, std::uint64_t begin, std::uint64_t end,
               DeviceTimes times) {
  Record record{kind_of(info.kind), std::string(info.name), stream.device(), stream.id()};
  record.host_begin = begin;
  record.host_end = end;
  record.bytes = info.bytes;
  add(std::move(record), std::move(times));
}

void note_memory(bool allocate, std::size_t bytes, int device, std::int64_t stream, std::uint64_t total) {
  Record record{allocate ? Record::Kind::allocate : Record::Kind::free, allocate ? "allocate" : "free",
                device, stream};
  record.host_begin = record.host_end = now();
  record.bytes = bytes;
  record.counter = total;
  add(std::move(record));
}

void note_host(Record::Kind kind, std::string_view name, std::uint64_t begin, std::uint64_t end) {
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
  if (begin_ && active()) note_host(Record::Kind::span, name_, begin_, now());
}

}  // namespace xpu::trace
