// What all clients of the process share: its name, and who waits for the devices.
#pragma once

#include <sys/types.h>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/waiter.h"

namespace xla_xpu {

/// Made at first use and never destroyed: buffers may outlive every client.
class Platform {
 public:
  static Platform& get();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  int device_count() const { return static_cast<int>(waiters_.size()); }
  Waiter& waiter(int device) { return *waiters_[device]; }

  /// Whether every callback that somebody waits for has been called.
  bool is_drained();

 private:
  Platform();
  void stop();

  std::string name_ = "xpu", version_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  pid_t process_;
};

}  // namespace xla_xpu
