// What the runtime's own waits ask about signals.
#pragma once

#include <chrono>
#include <cstdint>

#include "stream_state.h"

namespace xpu::interrupt {

constexpr auto check_interval = std::chrono::milliseconds(100);

/// The calling thread enqueues work: its operation can no longer be interrupted.
void note_enqueued();
/// For waits for the compiler: calls `check` if the thread's operation has enqueued nothing.
void check_operation();
/// Waits for the stream's work, unless a signal is pending, or for half a second: the operation then goes on
/// enqueuing, and the program handles the signal after it.
void throttle(StreamState& stream);

/// Measures a wait of the host, so that later ones know whether those for few submissions are short.
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
