// One build helper: the program xpu-build-kernels, detached from this process so that nobody must wait for
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compile/compilers/messages.h"

namespace xpu::build_service {

enum class Priority { normal, low };

/// For one thread at a time.
class HelperProcess {
 public:
  /// Returns null if no process can be started. Does not wait until it is ready.
  static std::unique_ptr<HelperProcess> start(Priority priority);
  HelperProcess(int socket, int exit_pipe) : socket_(socket), exit_pipe_(exit_pipe) {}
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  enum class Status {
    answered,     ///< it takes further requests; in every other state it has exited
    exited_idle,  ///< before it was asked
    never_ready,  ///< before it could take a request
    crashed,      ///< during the build
    timed_out,    ///< after the time limit of the build
  };
  struct Reply {
    Status status;
    BuildResponse response;        ///< if it answered
    std::string exit_description;  ///< if it crashed: exit code or signal, and the end of its stderr
  };
  /// Blocks until the program is built or the helper has exited. Throws what a signal's handler throws; the
  /// helper must then be destroyed.
  Reply ask(const BuildRequest& request);

 private:
  /// Blocks until there is something to read. Throws what a signal's handler throws.
  void wait_for_message() const;
  /// Blocks until the helper has exited. Sets `status` to how.
  std::string describe_exit(Status& status) const;

  int socket_, exit_pipe_;
  bool ready_ = false;
};

}  // namespace xpu::build_service
