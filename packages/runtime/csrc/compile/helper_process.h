// One helper that builds: the program xpu-build-kernels, which is nobody's child, and what becomes of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compile/messages.h"

namespace xpu::elsewhere {

class HelperProcess {
 public:
  /// Null when no process can be started.
  static std::unique_ptr<HelperProcess> start();
  HelperProcess(int socket, int end) : socket_(socket), end_(end) {}
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  enum class Fate {
    answered,
    idle,      ///< it had ended before it was asked
    unusable,  ///< it never came so far as to take an order
    died,      ///< it ended at its work
  };
  struct Reply {
    Fate fate;
    Answer answer;    ///< of one that answered
    std::string how;  ///< one that did not has ended, and what it said last
  };
  Reply ask(const Order& order);

 private:
  /// Blocks until there is something to read. Throws what a signal's handler throws.
  void wait_for_message() const;
  std::string how_it_ended(bool& by_itself) const;

  int socket_, end_;
  bool ready_ = false;
};

}  // namespace xpu::elsewhere
