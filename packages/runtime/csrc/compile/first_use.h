// The wait of a first use: its record in traces, and one message to users who have waited for long.
#pragma once

#include <cstdint>

namespace xpu {

/// From the begin of a build until its result is in use.
class FirstUse {
 public:
  explicit FirstUse(int device);
  ~FirstUse();
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

  /// Ends the time that counts as the compiler's.
  void finish();
  /// Says that later processes do not wait.
  void mark_stored() { stored_ = true; }

 private:
  int device_;
  std::uint64_t begin_, end_ = 0;
  int exceptions_before_;  // more in the destructor: the build failed
  bool stored_ = false;
};

}  // namespace xpu
