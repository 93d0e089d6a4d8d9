// What lives as long as the process. Statics must outlive every thread and every array that Python frees
// late, so they are never destroyed; a leak checker can ask for it (XPU_RELEASE_AT_EXIT=1).
#pragma once

#include <functional>
#include <utility>

namespace xpu {

/// Called at exit, last one first, when XPU_RELEASE_AT_EXIT=1.
void on_release(std::function<void()> release);

/// A new T that is deleted at exit only when that was asked for. For `static T& name = immortal<T>(...)`.
template <class T, class... Arguments>
T& immortal(Arguments&&... arguments) {
  auto* made = new T{std::forward<Arguments>(arguments)...};
  on_release([made] { delete made; });
  return *made;
}

}  // namespace xpu
