// How a host thread waits for a GPU: it polls without a pause at first, then sleeps between polls.
//
// The waits of such devices' drivers occupy a core, and a thread that sleeps wakes too late for short work.
// On the CPU device a thread that polls would take a core from the work.
#pragma once

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace xpu {

using WaitTime = std::chrono::nanoseconds;

/// Knows how long the last waits took. Thread-safe.
class WaitPolicy {
 public:
  static constexpr WaitTime max_spin = std::chrono::microseconds(100);
  static constexpr WaitTime min_pause = std::chrono::microseconds(20);
  static constexpr WaitTime max_pause = std::chrono::milliseconds(1);

  /// The time for which to poll without a pause: that of the last waits and a quarter more, but at most
  /// `max_spin`.
  WaitTime spin() const {
    auto longest = WaitTime(longest_.load(std::memory_order_relaxed));
    return std::min(longest + longest / 4, max_spin);
  }
  /// The pause between two polls after that, so that a wait is at most a 32nd longer than it must be.
  static WaitTime pause(WaitTime waited) { return std::clamp(waited / 32, min_pause, max_pause); }
  /// Says how long a wait took. A long one counts for several later ones, each time for less.
  void note(WaitTime waited) {
    auto before = longest_.load(std::memory_order_relaxed);
    auto capped = std::min(waited, max_spin).count();
    longest_.store(std::max<std::int64_t>(capped, before - before / 4), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> longest_{max_spin.count()};  // in ns, of the last waits
};

/// The time of the host. While it is alive, pauses of its thread end within microseconds.
class HostClock {
 public:
  ~HostClock() {
    if (slack_ >= 0) prctl(PR_SET_TIMERSLACK, slack_);
  }
  WaitTime now() const { return std::chrono::steady_clock::now().time_since_epoch(); }
  void yield() { std::this_thread::yield(); }
  void pause(WaitTime time) {
    if (slack_ < 0) {
      slack_ = prctl(PR_GET_TIMERSLACK);
      prctl(PR_SET_TIMERSLACK, 1000);  // in ns; by default a sleep may take 50 us more
    }
    std::this_thread::sleep_for(time);
  }

 private:
  int slack_ = -1;
};

/// Blocks until `is_done()` or for about `timeout`; returns the last result.
template <class IsDone, class Clock>
bool poll_until(WaitPolicy& policy, const IsDone& is_done, WaitTime timeout, Clock& clock) {
  const auto begin = clock.now(), spin = policy.spin();
  while (!is_done()) {
    auto waited = clock.now() - begin;
    if (waited >= timeout) return false;
    if (waited < spin)
      clock.yield();
    else
      clock.pause(WaitPolicy::pause(waited));
  }
  policy.note(clock.now() - begin);
  return true;
}

template <class IsDone>
bool poll_until(WaitPolicy& policy, const IsDone& is_done, WaitTime timeout = std::chrono::hours(24 * 365)) {
  HostClock clock;
  return poll_until(policy, is_done, timeout, clock);
}

}  // namespace xpu
