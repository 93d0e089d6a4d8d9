// State that all clients of the process share: the platform's name, and a CompletionThread per device.
#pragma once

#include <sys/types.h>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/completion_thread.h"

namespace xla_xpu {

/// Created at first use and never destroyed, because buffers may outlive every client.
class Platform {
 public:
  static Platform& get();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  int device_count() const { return static_cast<int>(completion_threads_.size()); }
  CompletionThread& completion_thread(int device) { return *completion_threads_[device]; }

  /// Returns true if every callback has run. Never blocks.
  bool is_drained();

 private:
  Platform();
  void stop();

  std::string name_ = "xpu", version_;
  std::vector<std::unique_ptr<CompletionThread>> completion_threads_;
  pid_t process_;
};

}  // namespace xla_xpu
