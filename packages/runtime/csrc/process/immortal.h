// Objects that are never destroyed: threads and late Python finalizers may still use them at exit. With
// XPU_RELEASE_AT_EXIT=1, for leak checkers, they are destroyed after the last drain.
#pragma once

#include <functional>
#include <utility>

namespace xpu {

/// With XPU_RELEASE_AT_EXIT=1, has `release` called at shutdown, in reverse order of registration.
/// Thread-safe.
void on_release(std::function<void()> release);

/// Makes a T that is never destroyed, also not with XPU_RELEASE_AT_EXIT=1: threads that nothing ends, as
/// those that build ahead, use it until the process is gone. Use as `static T& name = leaked<T>(...)`.
template <class T, class... Arguments>
T& leaked(Arguments&&... arguments) {
  return *new T{std::forward<Arguments>(arguments)...};
}

/// Makes a T that is never destroyed; use as `static T& name = immortal<T>(...)`.
template <class T, class... Arguments>
T& immortal(Arguments&&... arguments) {
  auto* object = new T{std::forward<Arguments>(arguments)...};
  on_release([object] { delete object; });
  return *object;
}

}  // namespace xpu
