#include "xpu/fault.h"

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "devices/device_table.h"
#include "devices/sycl_error.h"
#include "process/env.h"
#include "process/immortal.h"
#include "streams/stream_state.h"

namespace xpu {
namespace {

struct Check {
  std::string op, text;
};

struct Faults {
  std::mutex mutex;
  std::deque<Check> checks;
  std::vector<std::atomic<FaultRecord*>> records = std::vector<std::atomic<FaultRecord*>>(device_count());
  std::atomic<bool> failed{false};  ///< true if `failures` has one
  std::vector<std::exception_ptr> failures = std::vector<std::exception_ptr>(device_count());

  ~Faults() {
    for (std::size_t device = 0; device < records.size(); ++device)
      if (auto* record = records[device].load()) sycl::free(record, sycl_context(static_cast<int>(device)));
  }
};

thread_local const char* scope_name = nullptr;

Faults& faults() {
  static auto& all = immortal<Faults>();
  return all;
}

void replace(std::string& text, const std::string& name, std::int64_t value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), std::to_string(value));
}

}  // namespace

FaultRecord* fault_record(int device) {
  device_info(device);
  auto& all = faults();
  auto* record = all.records[device].load(std::memory_order_acquire);
  if (record) [[likely]]
    return record;
  std::lock_guard lock(all.mutex);
  record = all.records[device];
  if (record) return record;
  record = translate_sycl_errors("allocating the fault record",
                                 [&] { return sycl::malloc_host<FaultRecord>(1, sycl_context(device)); });
  expect<OutOfMemory>(record != nullptr, "no pinned host memory is left for the fault record of device ",
                      device);
  *record = {};
  all.records[device].store(record, std::memory_order_release);
  return record;
}

FaultNameScope::FaultNameScope(const char* op) : previous_(scope_name) {
  if (!scope_name) scope_name = op;
}

FaultNameScope::~FaultNameScope() {
  scope_name = previous_;
}

std::uint32_t fault_code(std::string_view op, std::string_view text) {
  if (scope_name) op = scope_name;
  auto& all = faults();
  std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < all.checks.size(); ++i)
    if (all.checks[i].op == op && all.checks[i].text == text) return static_cast<std::uint32_t>(i + 1);
  all.checks.push_back({std::string(op), std::string(text)});
  return static_cast<std::uint32_t>(all.checks.size());
}

void keep_failure(int device, std::exception_ptr failure) {
  auto& all = faults();
  std::lock_guard lock(all.mutex);
  if (!all.failures[device]) all.failures[device] = std::move(failure);
  all.failed = true;
}

void throw_pending(int device) {
  auto& all = faults();
  if (all.failed.load(std::memory_order_acquire)) [[unlikely]] {
    std::lock_guard lock(all.mutex);
    if (auto failure = std::exchange(all.failures[device], nullptr)) std::rethrow_exception(failure);
  }
  auto* record = all.records[device].load(std::memory_order_acquire);
  if (!record || record->code == 0) [[likely]]
    return;
  std::lock_guard lock(all.mutex);
  FaultRecord seen = *record;
  *record = {};
  if (seen.code == 0 || seen.code > all.checks.size())
    fail<InternalError>("a kernel reported an unknown fault, code ", seen.code);
  auto& check = all.checks[seen.code - 1];
  std::string text = check.text;
  replace(text, "{a}", seen.a);
  replace(text, "{b}", seen.b);
  static const auto* hint =
      env::flag("XPU_LAUNCH_BLOCKING")
          ? ""
          : " (found by a later wait; XPU_LAUNCH_BLOCKING=1 makes the call itself raise)";
  fail<KernelFault>(check.op, " on device ", device, ": ", text, hint);
}

}  // namespace xpu
