// Registry of the threads that use devices: shutdown waits for some of them.
#pragma once

namespace xpu::thread_registry {

/// Records that the calling thread uses a device now. Never blocks.
void record_activity();
/// Sets the function that every thread calls at the end of a BlockingScope; it need not return.
void set_park(void (*park)() noexcept);
/// Says that the calling thread's work may be lost: shutdown does not wait for it.
void mark_background();
/// Scope in which the calling thread waits for a device or a compiler: it is active, however long that takes.
class BlockingScope {
 public:
  BlockingScope();
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
};

}  // namespace xpu::thread_registry
