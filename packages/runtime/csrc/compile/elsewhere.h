// Builds programs in other processes, when several are wanted at once.
//
// The CPU device's driver builds one program of a process at a time, however many threads ask. So one is
// built here, and the others by helpers (the program xpu-build-kernels beside the library), which leave what
// they make in the disk cache. A helper ends with this process, and when nothing is asked of it for a while.
// Whatever fails there is done again here, where it is reported.
#pragma once

#include <string>
#include <vector>

#include "xpu/abi.h"

namespace xpu::elsewhere {

/// Whether the one who builds should do it in this process, for as long as it lives.
class Turn {
 public:
  explicit Turn(int device);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool here;

 private:
  bool counted_ = false;
};

/// Waits until a helper has built it into the caches; false when there is none for it, or it failed.
bool build(int device, const std::string& flat, const std::vector<std::string>& options);

/// Starts a helper, unless there is one or none may be.
void expect(int device);

/// What a helper does: builds what it is told through `socket` until nothing more comes.
XPU_API void serve(int socket);

}  // namespace xpu::elsewhere
