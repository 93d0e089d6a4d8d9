// Signals and Ctrl-C in the runtime's own waits.
#pragma once

#include <chrono>
#include <cstdint>

#include "streams/stream_state.h"

namespace xpu::interrupt {

constexpr auto check_interval = std::chrono::milliseconds(100);

/// Says that the calling thread enqueues work: its operation can no longer be interrupted.
void note_enqueued();
/// Call about every `check_interval` while waiting for the compiler. If the thread's operation has enqueued
/// nothing, calls the signal hook, and throws UsageError once the operation is cancelled.
void check_operation();
/// True on threads other than the main one, which may be waiting for them and handles signals afterwards.
bool may_delay_signals();
/// Blocks until the event has completed, a signal is pending or half a second has passed. True if it has
/// completed. Throws nothing for signals: the operation continues, and the program handles the signal after
/// it.
bool wait_briefly(const Event& event);
/// Does the same for all work of a CPU stream.
void throttle(StreamState& stream);

/// Measures a wait of the host: StreamState::short_waits counts those for few submissions that were short.
class WaitTimer {
 public:
  explicit WaitTimer(StreamState& stream);
  ~WaitTimer();
  WaitTimer(const WaitTimer&) = delete;
  WaitTimer& operator=(const WaitTimer&) = delete;

 private:
  StreamState& stream_;
  std::uint64_t pending_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace xpu::interrupt
