// What all clients of the process share: the devices, their memories, and who waits for them.
#pragma once

#include <sys/types.h>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/device.h"
#include "pjrt/waiter.h"

namespace xla_xpu {

/// Made at first use and never destroyed: buffers may outlive every client.
class Platform {
 public:
  static Platform& get();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::vector<PJRT_Device*>& devices() const { return devices_; }
  const std::vector<PJRT_DeviceDescription*>& descriptions() const { return descriptions_; }
  const std::vector<PJRT_Memory*>& memories() const { return memories_; }
  Waiter& waiter(int device) { return *waiters_[device]; }

  /// Returns when every callback that somebody waits for has been called.
  void drain();

 private:
  Platform();
  void stop();

  std::string name_ = "xpu", version_;
  std::vector<PJRT_Device*> devices_;
  std::vector<PJRT_DeviceDescription*> descriptions_;
  std::vector<PJRT_Memory*> memories_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  pid_t process_;
};

}  // namespace xla_xpu
