// The functions of Python that PyTorch's interfaces need. A process without Python has none of them.
#pragma once

#include <c10/util/FunctionRef.h>

#include "bridge/api.h"

namespace torch_xpu {

class Runtime;

/// Implemented by the module torch_xpu._bridge. Thread-safe; lives as long as the process.
class Interpreter {
 public:
  /// Imports torch_xpu._device, which loads the runtime and prepares it for a process with Python.
  virtual Runtime& load_runtime() = 0;
  /// Releases the interpreter's lock if the calling thread holds it; null if it does not.
  virtual void* release_lock() noexcept = 0;
  /// Takes the lock that release_lock() released. `state` is what it returned and not null.
  virtual void acquire_lock(void* state) noexcept = 0;
  /// Calls `callback` with the lock held. The callback can neither see nor clear the pending Python
  /// exception. Does nothing once Python has ended.
  virtual void run_callback(c10::function_ref<void()> callback) = 0;

 protected:
  ~Interpreter() = default;
};

TORCH_XPU_PUBLIC void set_interpreter(Interpreter* interpreter) noexcept;
/// Null in a process without Python.
TORCH_XPU_PUBLIC Interpreter* interpreter() noexcept;

/// Scope in which the calling thread does not hold the interpreter's lock.
class UnlockedInterpreter {
 public:
  UnlockedInterpreter() : python_(interpreter()), state_(python_ ? python_->release_lock() : nullptr) {}
  ~UnlockedInterpreter() {
    if (state_) python_->acquire_lock(state_);
  }
  UnlockedInterpreter(const UnlockedInterpreter&) = delete;
  UnlockedInterpreter& operator=(const UnlockedInterpreter&) = delete;

 private:
  Interpreter* python_;
  void* state_;
};

}  // namespace torch_xpu
