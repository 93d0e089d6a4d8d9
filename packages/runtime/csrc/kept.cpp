#include "kept.h"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "env.h"
#include "xpu/device.h"

namespace xpu {
namespace {

struct Releases {
  std::once_flag registered;
  std::mutex mutex;
  std::vector<std::function<void()>> all;
};
Releases& releases() {
  static auto* one = new Releases;
  return *one;
}

bool asked_for() {
  static bool asked = env::flag("XPU_RELEASE_AT_EXIT");
  return asked;
}

// May run more than once: the first time, nothing is left for the next.
void release_all() {
  auto& all = releases().all;
  if (all.empty()) return;
  for (int device = 0; device < device_count(); ++device) synchronize(device);
  while (!all.empty()) {
    auto last = std::move(all.back());
    all.pop_back();
    last();
  }
}

}  // namespace

void release_before_loaded_libraries() {
  if (asked_for()) std::atexit(release_all);  // what was registered last runs first
}

void on_release(std::function<void()> release) {
  if (!asked_for()) return;
  std::call_once(releases().registered, release_before_loaded_libraries);
  std::lock_guard lock(releases().mutex);
  releases().all.push_back(std::move(release));
}

}  // namespace xpu
