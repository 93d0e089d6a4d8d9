#include "process/immortal.h"

#include <mutex>
#include <vector>

#include "process/env.h"
#include "xpu/process.h"

namespace xpu {
namespace {

struct Releases {
  std::once_flag registered;
  std::mutex mutex;
  std::vector<std::function<void()>> all;
};
Releases& releases() {
  static auto& instance = leaked<Releases>();
  return instance;
}

bool is_release_enabled() {
  static bool enabled = env::flag("XPU_RELEASE_AT_EXIT");
  return enabled;
}

void release_all() {
  auto& all = releases().all;
  while (!all.empty()) {
    auto last = std::move(all.back());
    all.pop_back();
    last();
  }
}

}  // namespace

void on_release(std::function<void()> release) {
  if (!is_release_enabled()) return;
  std::call_once(releases().registered, at_shutdown, release_all);
  std::lock_guard lock(releases().mutex);
  releases().all.push_back(std::move(release));
}

}  // namespace xpu
