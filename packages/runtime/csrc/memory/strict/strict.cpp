#include "memory/strict/strict.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "memory/strict/range.h"
#include "memory/strict/work.h"
#include "process/env.h"

namespace xpu::strict {

DeviceWork device_works[DeviceWork::capacity];

namespace {

thread_local int guard_depth = 0;
thread_local DeviceWork* thread_work = nullptr;

DeviceWork* claim_work() {
  long thread = syscall(SYS_gettid);
  for (DeviceWork& work : device_works) {
    long free = 0;
    if (!work.thread.compare_exchange_strong(free, thread)) continue;
    work.name[0] = 0;
    return &work;
  }
  return nullptr;
}

}  // namespace

bool enabled() {
  static const bool on = env::flag("XPU_STRICT_MEMORY");
  return on;
}

void AccessGuard::enter() {
  Range::get().open();
  if (guard_depth++ == 0) thread_work = claim_work();
}

void AccessGuard::leave() noexcept {
  Range::get().close();
  if (--guard_depth > 0 || !thread_work) return;
  thread_work->thread = 0;
  thread_work = nullptr;
}

void set_kernel_name(std::string_view name) {
  if (!thread_work) return;
  std::size_t size = std::min(name.size(), std::size_t{DeviceWork::name_size - 1});
  std::memcpy(thread_work->name, name.data(), size);
  thread_work->name[size] = 0;
}

}  // namespace xpu::strict
