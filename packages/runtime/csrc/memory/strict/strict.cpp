#include "memory/strict/strict.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "env.h"
#include "memory/strict/range.h"
#include "memory/strict/work.h"

namespace xpu::strict {

Work works[Work::capacity];

namespace {

thread_local int depth = 0;
thread_local Work* mine = nullptr;

Work* claim() {
  long thread = syscall(SYS_gettid);
  for (Work& work : works) {
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

void Window::enter() {
  Range::get().open();
  if (depth++ == 0) mine = claim();
}

void Window::leave() noexcept {
  Range::get().close();
  if (--depth > 0 || !mine) return;
  mine->thread = 0;
  mine = nullptr;
}

void note_kernel(std::string_view name) {
  if (!mine) return;
  std::size_t size = std::min(name.size(), std::size_t{Work::name_size - 1});
  std::memcpy(mine->name, name.data(), size);
  mine->name[size] = 0;
}

}  // namespace xpu::strict
