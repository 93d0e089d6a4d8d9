// Waits by polling at growing intervals, where nothing tells the host that it may continue.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace xpu {

/// Blocks until `is_done()` or for about `timeout`; returns the last result. The first 50 us only yield;
/// sleeps then grow with the wait, up to a millisecond.
template <class IsDone>
bool sleep_until(const IsDone& is_done, std::chrono::milliseconds timeout = std::chrono::hours(24 * 365)) {
  using namespace std::chrono;
  const auto begin = steady_clock::now();
  while (!is_done()) {
    auto waited = duration_cast<microseconds>(steady_clock::now() - begin);
    if (waited >= timeout) return false;
    if (waited < microseconds(50))
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::clamp(waited / 8, microseconds(20), microseconds(1000)));
  }
  return true;
}

}  // namespace xpu
