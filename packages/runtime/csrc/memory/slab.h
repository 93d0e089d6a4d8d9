// Headers are reused but never freed, so a stale pointer still points to a valid header.
#pragma once

#include <deque>

namespace xpu::memory {

template <class T>
class Slab {
 public:
  T* take() {
    if (!free_) return &all_.emplace_back();
    T* item = free_;
    free_ = item->next;
    return item;
  }
  void give(T* item) {
    item->next = free_;
    free_ = item;
  }

 private:
  std::deque<T> all_;
  T* free_ = nullptr;
};

}  // namespace xpu::memory
