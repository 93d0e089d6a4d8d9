// Signals while the host waits: Ctrl-C ends a long wait.
#pragma once

#include <atomic>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu {

class Event;

/// A host thread that waits for more than 8 submissions calls `check` about every 100 ms. Both hooks are
/// called on the process's main thread only, without locks of the runtime's.
struct InterruptHooks {
  void (*check)();       ///< handles signals; an exception ends the wait, and the work continues
  bool (*is_pending)();  ///< true if a signal is pending; does not handle it and does not throw
};
XPU_API void set_interrupt_hooks(InterruptHooks hooks);

/// Blocks until the stream's work, or the event, has completed, and calls `check` meanwhile. Returns at once
/// if a wait will be short: it is for callers that wait themselves afterwards. Call it before enqueuing work
/// that an exception must not separate.
XPU_API void wait_interruptibly(Stream stream);
XPU_API void wait_interruptibly(const Event& event);

/// Scope of one operation of a program. An exception must not leave it half done, so signals end its waits
/// for the compiler only until it enqueues work. Scopes nest; the outermost counts. Outside of scopes those
/// waits ignore signals.
class XPU_API OperationScope {
 public:
  /// Waits for the compiler also end, with a UsageError, once `*cancelled` is true. It must outlive the
  /// scope.
  explicit OperationScope(const std::atomic<bool>* cancelled = nullptr);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
};

}  // namespace xpu
