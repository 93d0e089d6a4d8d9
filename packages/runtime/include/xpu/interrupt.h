// Signals while the host waits: Ctrl-C ends a wait that would take long.
#pragma once

#include <atomic>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

class Event;

/// How hosts learn of signals. Both are called on the process's main thread only, about ten times a second
/// while it waits, with none of the runtime's locks held.
struct InterruptHooks {
  void (*check)();       ///< handles signals; what it throws ends the wait, and the work goes on
  bool (*is_pending)();  ///< true if a signal waits to be handled; handles none and throws nothing
};
XPU_API void set_interrupt_hooks(InterruptHooks hooks);

/// Waits for the stream, or the event, and calls `check` meanwhile. Returns at once where the wait will be
/// short. For callers that are about to wait anyway, before they enqueue anything that an exception must not
/// leave alone.
XPU_API void wait_interruptibly(Stream stream);
XPU_API void wait_interruptibly(const Event& event);

/// One operation of a program. An exception must not leave it half done, so signals end its waits for the
/// compiler only until it enqueues work. Scopes nest; the outermost counts. Without a scope those waits
/// ignore signals.
class XPU_API OperationScope {
 public:
  /// Waits for the compiler also end, with a UsageError, once `cancelled` is true. It must outlive the scope.
  explicit OperationScope(const std::atomic<bool>* cancelled = nullptr);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
};

}  // namespace xpu
