// Which threads have a window open, and what they run: read by the fault handler.
#pragma once

#include <atomic>

namespace xpu::strict {

struct Work {
  static constexpr int capacity = 64, name_size = 200;
  std::atomic<long> thread{0};  ///< 0: free
  char name[name_size] = {};
};

extern Work works[Work::capacity];

}  // namespace xpu::strict
